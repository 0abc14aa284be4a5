"""Runs tariff rules written in a small language: a tokenizer, a recursive-descent parser, a compiler to closures, and a run over parcels."""
import operator
import re
import sys
import zlib

TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<symbol>==|!=|<=|>=|[-+*/%<>=(){},;]))")
KEYWORDS = {"rule", "let", "while", "if", "else", "return", "and", "or", "not"}


class ScriptError(Exception):
    pass


def tokenize(text):
    tokens, at, end = [], 0, len(text.rstrip())
    match = TOKEN.match
    while at < end:
        found = match(text, at)
        if not found:
            raise ScriptError(f"unexpected {text[at:at + 10]!r}")
        kind = found.lastgroup
        value = found.group(kind)
        if kind == "number":
            value = int(value)
        elif value in KEYWORDS:
            kind = "keyword"
        tokens.append((kind, value))
        at = found.end()
    tokens.append(("end", None))
    return tokens


class Parser:
    LEVELS = [("or",), ("and",), ("==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%")]

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def peek(self):
        return self.tokens[self.at][1]

    def take(self):
        token = self.tokens[self.at]
        self.at += 1
        return token

    def expect(self, value):
        if self.take()[1] != value:
            raise ScriptError(f"expected {value!r} at token {self.at}")

    def accept(self, value):
        if self.peek() == value:
            self.at += 1
            return True
        return False

    def name(self):
        kind, value = self.take()
        if kind != "name":
            raise ScriptError(f"expected a name, found {value!r}")
        return value

    def program(self):
        rules = []
        while self.tokens[self.at][0] != "end":
            rules.append(self.rule())
        return rules

    def rule(self):
        self.expect("rule")
        name, parameters = self.name(), []
        self.expect("(")
        while not self.accept(")"):
            parameters.append(self.name())
            self.accept(",")
        return name, parameters, self.block()

    def block(self):
        self.expect("{")
        statements = []
        while not self.accept("}"):
            statements.append(self.statement())
        return statements

    def statement(self):
        if self.accept("let"):
            name = self.name()
            self.expect("=")
            return self.finished("assign", name, self.expression(0))
        if self.accept("while"):
            return "while", self.expression(0), self.block()
        if self.accept("if"):
            condition, then = self.expression(0), self.block()
            return "if", condition, then, self.block() if self.accept("else") else []
        if self.accept("return"):
            return self.finished("return", self.expression(0))
        name = self.name()
        self.expect("=")
        return self.finished("assign", name, self.expression(0))

    def finished(self, *node):
        self.expect(";")
        return node

    def expression(self, level):
        if level == len(self.LEVELS):
            return self.unary()
        left = self.expression(level + 1)
        while self.peek() in self.LEVELS[level]:
            op = self.take()[1]
            left = "binary", op, left, self.expression(level + 1)
        return left

    def unary(self):
        if self.accept("-"):
            return "binary", "-", ("number", 0), self.unary()
        if self.accept("not"):
            return "not", self.unary()
        return self.primary()

    def primary(self):
        kind, value = self.take()
        if kind == "number":
            return "number", value
        if value == "(":
            inner = self.expression(0)
            self.expect(")")
            return inner
        if kind != "name":
            raise ScriptError(f"unexpected {value!r}")
        if not self.accept("("):
            return "name", value
        arguments = []
        while not self.accept(")"):
            arguments.append(self.expression(0))
            self.accept(",")
        return "call", value, arguments


class Compiler:
    """Turns a rule into nested closures over a list of slots; a statement returns None, or what the rule returns."""

    OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "%": operator.mod, "/": operator.floordiv,
                 "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
    BUILTINS = {"max": max, "min": min}

    def __init__(self):
        self.rules = {}
        self.slots = {}

    def compile(self, name, parameters, body):
        self.slots = {p: i for i, p in enumerate(parameters)}
        run = self.block(body)
        empty = [0] * (len(self.slots) - len(parameters))

        def call(*arguments):
            return run([*arguments, *empty])
        self.rules[name] = call

    def slot(self, name):
        return self.slots.setdefault(name, len(self.slots))

    def block(self, statements):
        steps = tuple(self.statement(s) for s in statements)
        if len(steps) == 1:
            return steps[0]

        def run_block(env):
            for step in steps:
                result = step(env)
                if result is not None:
                    return result
        return run_block

    def statement(self, node):
        return getattr(self, "compile_" + node[0])(*node[1:])

    expression = statement

    def compile_assign(self, name, value):
        value = self.expression(value)
        slot = self.slot(name)

        def assign(env):
            env[slot] = value(env)
        return assign

    def compile_while(self, condition, body):
        condition, body = self.expression(condition), self.block(body)

        def loop(env):
            while condition(env):
                result = body(env)
                if result is not None:
                    return result
        return loop

    def compile_if(self, condition, then, otherwise):
        condition, then = self.expression(condition), self.block(then)
        otherwise = self.block(otherwise)
        return lambda env: then(env) if condition(env) else otherwise(env)

    def compile_return(self, value):
        return self.expression(value)

    def compile_number(self, value):
        return lambda env: value

    def compile_name(self, name):
        if name not in self.slots:
            raise ScriptError(f"{name} is not set")
        return operator.itemgetter(self.slots[name])

    def compile_not(self, inner):
        inner = self.expression(inner)
        return lambda env: not inner(env)

    def compile_binary(self, op, left, right):
        if op not in ("and", "or") and left[0] == right[0] == "number":
            return self.compile_number(self.OPERATORS[op](left[1], right[1]))
        constant = right[1] if right[0] == "number" else None
        left, right = self.expression(left), self.expression(right)
        if op == "and":
            return lambda env: left(env) and right(env)
        if op == "or":
            return lambda env: left(env) or right(env)
        apply = self.OPERATORS[op]
        if constant is not None:
            return lambda env: apply(left(env), constant)
        return lambda env: apply(left(env), right(env))

    def compile_call(self, name, arguments):
        arguments = [self.expression(a) for a in arguments]
        function, rules = self.BUILTINS.get(name), self.rules
        if len(arguments) != 2:
            raise ScriptError(f"{name} takes two arguments")
        first, second = arguments
        if function:
            return lambda env: function(first(env), second(env))
        return lambda env: rules[name](first(env), second(env))


def parcels(count):
    state = 12345
    for _ in range(count):
        state = (state * 1103515245 + 12345) & 0x7fffffff
        yield 1 + state % 300, 1 + (state >> 9) % 2000


def price_all(rules, count):
    totals, digest = dict.fromkeys(rules, 0), 0
    for weight, distance in parcels(count):
        best = None
        for name, rule in rules.items():
            price = rule(weight, distance)
            totals[name] += price
            if best is None or price < best[0]:
                best = price, name
        digest = zlib.crc32(f"{weight} {distance} {best}".encode(), digest)
    return totals, digest


def main():
    with open("data/rules.txt") as f:
        text = f.read()
    program = Parser(tokenize(text)).program()
    compiler = Compiler()
    for name, parameters, body in program:
        compiler.compile(name, parameters, body)
    tariffs = {n: r for n, r in compiler.rules.items() if n.startswith("tariff_")}
    totals, digest = price_all(tariffs, int(sys.argv[1]) if len(sys.argv) > 1 else 160)
    print(f"{len(program)} rules, digest {digest:08x}")
    for name in sorted(totals, key=lambda n: (totals[n], n))[:12]:
        print(f"{name} {totals[name]}")


if __name__ == "__main__":
    main()
