"""The readings of three days: time, meter, watt."""

import random

random.seed(1)
with open("readings.csv", "w") as file:
    for minute in range(3 * 24 * 60):
        day, rest = divmod(minute, 24 * 60)
        for meter in range(60):
            file.write(f"2024-03-{day + 1:02}T{rest // 60:02}:{rest % 60:02},meter{meter:02},{random.randrange(4000)}\n")
