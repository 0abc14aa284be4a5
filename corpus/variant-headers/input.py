"""Variants of a few samples, put together from the parts that many tasks worked on; each task's commands are in the header."""

import random

random.seed(1)
for name, tasks, variants in [("merged.vcf", 15_000, 60_000), ("other.vcf", 9_000, 20_000)]:
    with open(name, "w") as file:
        file.write("##fileformat=VCFv4.2\n")
        for chromosome in range(1, 23):
            file.write(f"##contig=<ID={chromosome},length={250_000_000 - chromosome * 8_000_000}>\n")
        file.write('##INFO=<ID=AF,Number=A,Type=Float,Description="Frequency">\n##FORMAT=<ID=GT,Number=1,Type=String,Description="Genotype">\n')
        for task in range(tasks):
            file.write(f"##impute_command=impute --part {task} --seed {random.getrandbits(32)} --out part{task}.vcf\n")
            file.write(f"##impute_date=2022-03-{1 + task * 28 // tasks:02} {task % 24:02}:{random.randrange(60):02}:{random.randrange(60):02}.{task}\n")
        file.write("#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\tS2\tS3\n")
        for variant in range(variants):
            genotypes = "\t".join(random.choice(["0|0", "0|1", "1|0", "1|1"]) for _ in range(3))
            chromosome = 1 + variant * 22 // variants
            file.write(f"{chromosome}\t{1000 + variant * 11}\t.\t{random.choice('AC')}\t{random.choice('GT')}\t.\tPASS\tAF={random.random():.4f}\tGT\t{genotypes}\n")
