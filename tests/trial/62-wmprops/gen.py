import random, os
random.seed(62)
os.makedirs("data", exist_ok=True)
common = ["WM_NAME", "WM_CLASS", "WM_HINTS", "WM_NORMAL_HINTS", "WM_PROTOCOLS", "WM_CLIENT_MACHINE", "WM_LOCALE_NAME", "_NET_WM_NAME",
          "_NET_WM_PID", "_NET_WM_ICON_NAME", "_NET_WM_WINDOW_TYPE", "_NET_WM_STATE", "_NET_WM_DESKTOP", "_NET_WM_USER_TIME", "_MOTIF_WM_HINTS",
          "_GTK_THEME_VARIANT", "_GTK_APPLICATION_ID", "_KDE_NET_WM_FRAME_STRUT", "XdndAware", "_NET_STARTUP_ID"]
rare = [f"_{a}_{b}_{c}" for a in ("QT", "WINE", "SDL", "MOZ", "STEAM", "XFCE", "E", "OB") for b in ("CLIENT", "FRAME", "INPUT", "SURFACE") for c in ("ID", "FLAGS", "ROLE")]
apps = ["terminal", "editor", "browser", "mail", "player", "files", "chat", "viewer", "monitor", "office"]
with open("data/session.txt", "w") as f:
    for w in range(2900):
        app = random.choice(apps)
        props = random.sample(common, random.randrange(9, 18)) + random.sample(rare, random.randrange(0, 6))
        f.write(f"window {0x1400000 + w * 0x20:#x} {app}\n")
        for p in props:
            if p == "WM_CLASS": v = app
            elif p.endswith("NAME"): v = f"{app} {random.randrange(10**random.randrange(1, 12))}"
            else: v = "".join(random.choice("0123456789abcdef") for _ in range(random.randrange(4, 44)))
            f.write(f"{p} {v}\n")
