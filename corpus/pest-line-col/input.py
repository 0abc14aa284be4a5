"""A long configuration file in which some settings come twice."""

with open("service.conf", "w") as file:
    for number in range(5_500):
        file.write(f"service.{number % 5_400}.timeout = {number % 60} seconds, then try again\n")
