"""A handbook for the operators of a service: chapters with many commands and some short pieces of configuration."""

import random

random.seed(1)
services = ["billing", "search", "mail", "gateway", "reports"]
with open("handbook.txt", "w") as file:
    for chapter in range(60):
        file.write(f"# Chapter {chapter}\n")
        for section in range(110):
            service = random.choice(services)
            file.write(f"To see step {section} of the {service} service, do this:\n\n")
            kind = random.random()
            if kind < 0.85:
                file.write(f"```bash\nmake {service}\n```\n")
            elif kind < 0.95:
                file.write(f'```json\n{{"service": "{service}", "replicas": {random.randrange(9)}}}\n```\n')
            elif kind < 0.98:
                file.write(f"```ini\n[{service}]\ntimeout = {random.randrange(90)}\nretry = yes\n```\n")
            else:
                file.write(f'```go\nfunc main() {{\n\tclient := {service}.New("{section}")\n\tclient.Run()\n}}\n```\n')
            file.write("Then go on with the next step.\n")
