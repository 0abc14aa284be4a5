# makes a bundle of CAs and a scan of hosts with their certificates, by means of the openssl command
import os, random, subprocess
random.seed(46)
os.makedirs("data/tmp", exist_ok=True)
def ssl(*a): subprocess.run(["openssl", *a], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
cas = 60
for i in range(cas + 1):
    ssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650", "-subj", f"/O=Trial/CN=Root CA {i:03}",
        "-keyout", f"data/tmp/ca{i}.key", "-out", f"data/tmp/ca{i}.pem", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
with open("data/ca-bundle.pem", "w") as f:
    for i in range(cas): f.write(open(f"data/tmp/ca{i}.pem").read())
with open("data/scan.txt", "w") as f:
    certs = []
    for k in range(24):
        i = cas if k % 8 == 7 else k * 5 % cas          # ca60 is not in the bundle
        n = f"srv{k}.example.test"
        ssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={n}", "-keyout", "data/tmp/h.key", "-out", "data/tmp/h.csr")
        open("data/tmp/ext", "w").write(f"subjectAltName=DNS:{n}\nextendedKeyUsage=serverAuth\n")
        ssl("x509", "-req", "-in", "data/tmp/h.csr", "-CA", f"data/tmp/ca{i}.pem", "-CAkey", f"data/tmp/ca{i}.key", "-set_serial", str(1000 + k),
            "-days", "3650", "-extfile", "data/tmp/ext", "-out", "data/tmp/h.pem")
        certs.append((n, open("data/tmp/h.pem").read()))
    for k in range(220):
        n, pem = random.choice(certs)
        if k % 11 == 5: n = "other.example.test"        # wrong name
        f.write(f"HOST {n}\n{pem}")
