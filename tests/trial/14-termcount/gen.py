import random, os
random.seed(14)
os.makedirs("data", exist_ok=True)
S = ["ka","lo","mi","ter","ran","do","vel","sto","pi","qu","ne","the","of","in","ing","s"]
V = ["".join(random.choices(S, k=random.randrange(1,5))) for _ in range(6000)]
W = [1/(i+5) for i in range(len(V))]
with open("data/docs.tsv", "w") as f:
    for i in range(12500):
        f.write(f"doc {i}\t" + " ".join(random.choices(V, W, k=random.randrange(300,900))) + "\n")
