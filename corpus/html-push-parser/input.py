"""An HTML letter with pictures in it."""

import base64
import random

random.seed(1)
with open("letter.html", "w") as file:
    file.write("<html><body><p>Dear all, here are the pictures.\n")
    for number, size in enumerate((20_000, 700_000, 40_000, 500_000)):
        data = base64.b64encode(random.randbytes(size)).decode()
        file.write(f"<p><img alt='picture {number}' src='data:image/png;base64,{data}'>\n")
    file.write("</body></html>\n")
