"""The parts of a service; nearly all are ready when the check begins, two take a moment."""

with open("rollout.txt", "w") as file:
    for number, part in enumerate(["api", "catalog", "search", "cart", "payment", "mail", "reports", "images", "stock"]):
        for replica in range(4):
            file.write(f"{part}-{replica} {150 if (number, replica) in ((2, 1), (7, 0)) else 0}\n")
