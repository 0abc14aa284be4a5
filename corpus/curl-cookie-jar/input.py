"""Cookie files of a crawler that visited many sites."""

for name, sites in (("news.txt", 300), ("shops.txt", 12_000)):
    with open(name, "w") as file:
        file.write("# Netscape HTTP Cookie File\n")
        for site in range(sites):
            secure = "TRUE" if site % 3 else "FALSE"
            file.write(f".site{site * 7919 % 100003}.example\tTRUE\t/\t{secure}\t41{site:08}\tsession\t{site * 6007:016x}\n")
            if site % 4 == 0:
                file.write(f".site{site * 7919 % 100003}.example\tTRUE\t/\tFALSE\t41{site:08}\tvisits\t{site % 90}\n")
