#!/usr/bin/env python3
"""Makes the inputs of the clean commands in the current folder. Always the same: the generator has a fixed seed."""

import json
import os
import random
import sqlite3

random.seed(7)
WORDS = ["".join(random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(random.randrange(3, 11))) for _ in range(20_000)]


def text(path: str, lines: int) -> None:
    with open(path, "w") as file:
        for _ in range(lines):
            file.write(" ".join(random.choices(WORDS, k=10)) + "\n")


def table(path: str, rows: int) -> None:
    with open(path, "w") as file:
        for row in range(rows):
            file.write(f"{row},{random.choice(WORDS)},{random.randrange(1_000_000)},{random.random():.6f}\n")


def records(path: str, count: int) -> None:
    made = [{"id": i, "name": random.choice(WORDS), "tags": random.choices(WORDS, k=4), "price": i * 0.25} for i in range(count)]
    with open(path, "w") as file:
        json.dump(made, file)


def c_source(path: str, functions: int) -> None:
    with open(path, "w") as file:
        for number in range(functions):
            file.write(
                f"int f{number}(int a, int b) {{ int s = {number}; for (int i = 0; i < a; i++) "
                f"{{ if (i % {number % 7 + 2}) s += b * i; else s ^= a - i; }} return s; }}\n"
            )
        file.write("int main(void) { return f0(1, 2); }\n")


def go_source(folder: str, functions: int) -> None:
    os.mkdir(folder)
    with open(f"{folder}/go.mod", "w") as file:
        file.write("module made\n\ngo 1.19\n")
    with open(f"{folder}/main.go", "w") as file:
        file.write("package main\n\n")
        for number in range(functions):
            file.write(f"func f{number}(a, b int) int {{\n\ts := {number}\n\tfor i := 0; i < a; i++ {{\n\t\ts += b * i\n\t}}\n\treturn s\n}}\n\n")
        file.write("func main() {\n\tprintln(" + " + ".join(f"f{number}(2, 3)" for number in range(functions)) + ")\n}\n")


def rust_source(path: str, functions: int) -> None:
    with open(path, "w") as file:
        for number in range(functions):
            file.write(f"pub fn f{number}(v: &[u64]) -> u64 {{ v.iter().map(|x| x.wrapping_mul({number})).filter(|x| x % 3 == 0).sum() }}\n")
        file.write("fn main() { println!(\"{}\", f0(&[1, 2, 3])); }\n")


def tree(folder: str, folders: int, files: int) -> None:
    for number in range(folders):
        os.makedirs(f"{folder}/{number // 50:02}/{number:04}")
        for file in range(files):
            with open(f"{folder}/{number // 50:02}/{number:04}/{file}.txt", "w") as out:
                out.write(" ".join(random.choices(WORDS, k=30)) + "\n")


def database(path: str, rows: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("create table sales (id integer primary key, product text, shop integer, price real)")
        values = ((random.choice(WORDS), random.randrange(200), random.random()) for _ in range(rows))
        connection.executemany("insert into sales (product, shop, price) values (?, ?, ?)", values)


def main() -> None:
    text("text.txt", 500_000)
    text("other.txt", 60_000)
    with open("other.txt") as file, open("edited.txt", "w") as out:
        out.writelines(line if number % 50 else "an edited line\n" for number, line in enumerate(file))
    with open("other.txt") as file, open("shuffled.txt", "w") as out:
        lines = file.readlines()[:4_500]
        out.writelines(random.sample(lines, len(lines)) + lines)
    table("table.csv", 1_500_000)
    records("records.json", 250_000)
    c_source("large.c", 300)
    go_source("made-go", 2_500)
    rust_source("large.rs", 700)
    tree("tree", 2_000, 15)
    database("sales.db", 800_000)
    with open("noise.bin", "wb") as file:
        file.write(random.randbytes(200_000_000))


if __name__ == "__main__":
    main()
