"""A long listing of a program."""

with open("program.txt", "w") as file:
    for number in range(2_500_000):
        file.write(f"    move {number % 97} to {number % 31}\n" if number % 9 else "\n")
