"""Messages to an insurer, with photos and forms."""

import email.message
import os
import random

random.seed(1)
WORDS = "the car stood at the kerb when a branch fell on its roof and broke the window please find attached a photo of it".split()
os.mkdir("mailbox")
for number in range(40):
    message = email.message.EmailMessage()
    message["From"] = f"Client {number} <client{number}@mail.example>"
    message["To"] = "claims@insurer.example"
    message["Subject"] = f"Claim {random.randrange(10_000, 99_999)}"
    message["Message-ID"] = f"<{number}@mail.example>"
    message.set_content("\n".join(" ".join(random.choices(WORDS, k=12)) for _ in range(20)))
    for photo in range(random.randrange(1, 4)):
        message.add_attachment(random.randbytes(random.randrange(40_000, 300_000)), maintype="image", subtype="jpeg", filename=f"photo{photo}.jpg")
    form = "".join(f"field {line}: {' '.join(random.choices(WORDS, k=6))}\n" for line in range(300))
    message.add_attachment(form, filename="form.txt")
    message.set_boundary(f"==part-{number:08}==")
    with open(f"mailbox/{number:03}.eml", "wb") as file:
        file.write(message.as_bytes().replace(b"\n", b"\r\n"))
