"""Messages with a few short fields; each has a picture or two in base64."""

import base64
import json
import random

random.seed(1)
with open("messages.json", "w") as file:
    for number in range(14):
        message = {"id": f"m-{number}", "from": f"camera {number % 7}", "note": 'seen at "gate" 4', "tags": ["night", "gate"]}
        for picture in range(random.randrange(1, 4)):
            message[f"picture-{picture}"] = base64.b64encode(random.randbytes(random.randrange(250_000, 420_000))).decode()
        file.write(json.dumps(message) + "\n")
