"""A large lock file."""

with open("packages.lock", "w") as file:
    for number in range(13_500):
        needs = ", ".join(f'"package-{number * step % 400}"' for step in range(1, 6))
        file.write(f'[package.package-{number}]\nversion = "1.{number}.0"\ndependencies = [{needs}]\n\n')
