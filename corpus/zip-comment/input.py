"""Archives that carry their license and build log as the archive's comment."""

import os
import zipfile

os.mkdir("archives")
for number in range(60):
    with zipfile.ZipFile(f"archives/{number:02}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in range(20):
            info = zipfile.ZipInfo(f"module-{file:03}.txt", (2020, 1, 1, 0, 0, 0))
            archive.writestr(info, f"This is part {file} of package {number}.\n" * 40)
        archive.comment = b"".join(b"step %05d of the build went well\n" % step for step in range(1_900))[:60_000]
