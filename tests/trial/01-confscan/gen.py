import random, os
random.seed(1)
os.makedirs("data", exist_ok=True)
with open("data/infra.hcl", "w") as f:
    for i in range(1300):
        f.write(f'# resource {i}\nresource "aws_instance" "web_{i}" {{\n')
        f.write(f'  ami = "ami-{random.randrange(16**8):08x}"\n  count = {random.randrange(9)}\n')
        key = random.choice(['owner','ownr','cost_centre'])
        f.write(f'  tags {{\n    name = "node-{i}"\n    {key} = "team{random.randrange(20)}"\n  }}\n}}\n\n')
A = "name owner environment cost project region zone ticket service backup policy instance type subnet security group volume key".split()
with open("data/schema.txt", "w") as f:
    f.write("name\nowner\nami\ncount\ntags\nresource\n" + "".join(f"{a}_{b}\n" for a in A for b in A if a != b))
