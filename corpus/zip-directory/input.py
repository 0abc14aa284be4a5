"""Archives of photographs: stored, not compressed."""

import os
import random
import zipfile

random.seed(1)
os.mkdir("archives")
for number in range(24):
    with zipfile.ZipFile(f"archives/{number:02}.zip", "w", zipfile.ZIP_STORED) as archive:
        for photo in range(10):
            info = zipfile.ZipInfo(f"photo-{photo:03}.jpg", (2020, 1, 1, 0, 0, 0))
            archive.writestr(info, random.randbytes(1_500_000))
