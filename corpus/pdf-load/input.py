"""A long report in PDF: pages of text in streams that are not compressed."""

import random

random.seed(1)
objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
kids = []
for page in range(6_000):
    page_number = len(objects) + 1
    kids.append(f"{page_number} 0 R")
    objects.append(f"<< /Type /Page /Parent 2 0 R /Contents {page_number + 1} 0 R /MediaBox [0 0 595 842] >>")
    text = "BT\n/F1 10 Tf\n14 TL\n50 780 Td\n"
    for line in range(60):
        text += f"(line {line} of page {page}, {random.randrange(10**6)} pieces) Tj\nT*\n"
    text += "ET\n"
    objects.append(f"<< /Length {len(text)} >>\nstream\n{text}endstream")
objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>"

with open("report.pdf", "wb") as file:
    offsets = []
    file.write(b"%PDF-1.5\n")
    for number, content in enumerate(objects, 1):
        offsets.append(file.tell())
        file.write(f"{number} 0 obj\n{content}\nendobj\n".encode())
    start = file.tell()
    file.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    for offset in offsets:
        file.write(f"{offset:010} 00000 n \n".encode())
    file.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode())
