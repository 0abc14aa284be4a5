"""A configuration of many services; each of them begins with the company's defaults."""

with open("defaults.libsonnet", "w") as file:
    file.write("{\n")
    for number in range(60):
        file.write(f"  option{number}:: {{ name: 'option {number}', value: {number * 37 % 101}, allowed: [1, 2, {number}] }},\n")
    file.write("  replicas: 2,\n  labels: { team: 'nobody', tier: 'backend' },\n  ports: [80 + self.offset],\n  offset:: 0,\n}\n")
with open("services.jsonnet", "w") as file:
    file.write("{\n  local service(number) = import 'defaults.libsonnet',\n")
    file.write("  ['service%d' % number]: service(number) { offset:: number, replicas: number % 5 + 1 }\n  for number in std.range(1, 260)\n}\n")
