"""The configuration of a mirror that fetches single branches."""

with open("gitconfig", "w") as file:
    for remote, branches in (("small", 10), ("large", 21_000)):
        file.write(f'[remote "{remote}"]\n\turl = https://example.com/{remote}.git\n')
        for branch in range(branches):
            file.write(f"\tfetch = +refs/heads/topic-{branch}:refs/remotes/{remote}/topic-{branch}\n")
