"""The services of a company: a package each."""

import os

os.mkdir("protos")
for service in range(180):
    name = f"Service{service:03}"
    with open(f"protos/service{service:03}.proto", "w") as file:
        file.write(f'syntax = "proto3";\npackage company.service{service:03};\n\n')
        file.write(f"// Does the {service}th thing.\nservice {name} {{\n")
        for method in range(2 + service % 4):
            file.write(f"  // Does part {method} of it.\n  rpc Do{method} (Request{method}) returns (Answer{method});\n")
        file.write("}\n")
        for method in range(2 + service % 4):
            file.write(f"\nmessage Request{method} {{\n  string id = 1;\n  repeated int64 values = 2;\n  bool urgent = 3;\n}}\n")
            file.write(f"\nmessage Answer{method} {{\n  string id = 1;\n  map<string, string> labels = 2;\n}}\n")
