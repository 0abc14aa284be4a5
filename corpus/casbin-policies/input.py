"""Who may do what with which document: a model, a list of grants with some repeated ones, and requests."""

with open("model.conf", "w") as file:
    file.write(
        "[request_definition]\nr = sub, obj, act\n[policy_definition]\np = sub, obj, act\n"
        "[policy_effect]\ne = some(where (p.eft == allow))\n"
        "[matchers]\nm = r.sub == p.sub && r.obj == p.obj && r.act == p.act\n"
    )
with open("grants.csv", "w") as file:
    for number in range(37_000):
        grant = number - 50 if number % 100 == 99 else number
        file.write(f"user{grant % 700},/documents/{grant // 2}.txt,{'read' if grant % 2 else 'write'}\n")
with open("requests.csv", "w") as file:
    for number in range(4):
        file.write(f"user{number},/documents/{number // 2}.txt,read\n")
