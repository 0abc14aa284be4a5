import base64, random
random.seed(1029)
langs = {
    "iso-8859-1": "Jürgen Müller François Crête Größe Änderung façade élève ñandú señor für über".split(),
    "ISO-8859-15": "Straße œuvre prix été André Gaël Zoë fête".split(),
    "windows-1252": "Jörg naïve “Frage” – Übung Ärger café".split(),
    "iso-8859-2": "Paweł Józef żółw Łódź Kraków řeka příliš kůň".split(),
    "koi8-r": "Иван Пётр вопрос ошибка сборка ядро письмо ответ".split(),
    "windows-1251": "Сергей Ольга патч новый выпуск список тест".split(),
    "iso-2022-jp": "日本語 質問 返信 東京 鈴木 田中 更新".split(),
    "euc-jp": "漢字 変更 報告 山本 佐藤".split(),
    "gb2312": "中文 问题 回复 北京 更新 王伟 李娜".split(),
    "big5": "台灣 問題 回覆 陳 更新".split(),
    "euc-kr": "한국어 질문 답변 서울 김".split(),
    "utf-8": "Zürich naïve жук 日本 Ωμέγα".split(),
    "iso-8859-7": "Αθήνα ερώτηση Γιώργος λάθος".split(),
    "iso-8859-9": "İstanbul güncelleme Şükrü ağaç".split(),
}
names = list(langs)
weights = [14, 8, 12, 7, 8, 7, 6, 4, 6, 4, 4, 10, 3, 3]
def enc(text, cs):
    raw = text.encode({"windows-1252": "cp1252", "windows-1251": "cp1251"}.get(cs, cs.lower()))
    if random.random() < 0.5 or cs in ("iso-2022-jp",):
        return "=?%s?B?%s?=" % (cs, base64.b64encode(raw).decode())
    return "=?%s?Q?%s?=" % (cs, "".join(chr(b) if chr(b).isalnum() and b < 128 else "_" if b == 32 else "=%02X" % b for b in raw))
body_words = "please see the attached patch for details I think we should apply it before release thanks build fails on arm with this".split()
with open("list.mbox", "w") as f:
    ids = []
    for i in range(20000):
        cs = random.choices(names, weights)[0]
        w = lambda n: " ".join(random.choice(langs[cs]) for _ in range(n))
        f.write("From list@example.org Mon Jan  1 00:00:00 2018\n")
        f.write("Received: from mx%d.example.org by list.example.org\n\tfor <list@example.org>; Mon, 1 Jan 2018\n" % (i % 7))
        f.write("From: %s <user%d@example.org>\n" % (enc(w(2), cs), random.randrange(900)))
        mid = "<%08x.%d@example.org>" % (random.getrandbits(32), i)
        f.write("Message-ID: %s\n" % mid)
        subj = " ".join([enc(w(4), cs), "\n " + enc(w(4), cs)])
        if ids and random.random() < 0.6:
            f.write("In-Reply-To: %s\n" % random.choice(ids[-300:]))
            subj = "Re: " + subj
        f.write("Subject: %s\n" % subj)
        f.write("Content-Type: text/plain; charset=%s\n\n" % cs)
        for _ in range(random.randint(15, 95)):
            f.write(" ".join(random.choice(body_words) for _ in range(random.randint(3, 10))) + "\n")
        f.write("\n")
        ids.append(mid)
