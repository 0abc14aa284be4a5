"""A plan of rooms: floors by rooms."""

with open("rooms.csv", "w") as file:
    for floor in range(400):
        file.write(",".join(f"room {floor}.{room}" for room in range(6)) + "\n")
