// minieval: an interpreter for a small expression language with lexical scopes; runs a few programs and prints the results.
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

#[derive(Debug, Clone)]
enum Expr {
    Num(i64),
    Var(String),
    Call(String, Vec<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Let(String, Box<Expr>, Box<Expr>),
}

#[derive(Debug)]
enum EvalError {
    Unbound(String),
    Syntax(String),
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            EvalError::Unbound(n) => write!(f, "unbound name {}", n),
            EvalError::Syntax(m) => write!(f, "syntax error: {}", m),
        }
    }
}

struct Function {
    params: Vec<String>,
    body: Expr,
}

struct Parser<'a> {
    tokens: Vec<&'a str>,
    at: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut tokens = Vec::new();
        for word in text.split_whitespace() {
            let mut rest = word;
            while !rest.is_empty() {
                let n = match rest.find(['(', ')']) {
                    Some(0) => 1,
                    Some(i) => i,
                    None => rest.len(),
                };
                tokens.push(&rest[..n]);
                rest = &rest[n..];
            }
        }
        Parser { tokens, at: 0 }
    }

    fn next(&mut self) -> Result<&'a str, EvalError> {
        let t = self.tokens.get(self.at).ok_or_else(|| EvalError::Syntax("unexpected end".into()))?;
        self.at += 1;
        Ok(t)
    }

    fn expr(&mut self) -> Result<Expr, EvalError> {
        let t = self.next()?;
        if t != "(" {
            return Ok(t.parse().map(Expr::Num).unwrap_or_else(|_| Expr::Var(t.to_string())));
        }
        let head = self.next()?;
        let mut args = Vec::new();
        while self.tokens.get(self.at) != Some(&")") {
            args.push(self.expr()?);
        }
        self.next()?;
        match (head, args.len()) {
            ("if", 3) => {
                let mut it = args.into_iter().map(Box::new);
                Ok(Expr::If(it.next().unwrap(), it.next().unwrap(), it.next().unwrap()))
            }
            ("let", 3) => {
                let mut it = args.into_iter();
                let name = match it.next() {
                    Some(Expr::Var(n)) => n,
                    _ => return Err(EvalError::Syntax("let needs a name".into())),
                };
                Ok(Expr::Let(name, Box::new(it.next().unwrap()), Box::new(it.next().unwrap())))
            }
            _ => Ok(Expr::Call(head.to_string(), args)),
        }
    }
}

#[derive(Clone, Default)]
struct Scope {
    globals: Rc<HashMap<String, i64>>,
    local: Option<Rc<Binding>>,
}

struct Binding {
    name: String,
    value: i64,
    outer: Option<Rc<Binding>>,
}

impl Scope {
    fn get(&self, name: &str) -> Option<i64> {
        let mut b = self.local.as_ref();
        while let Some(x) = b {
            if x.name == name {
                return Some(x.value);
            }
            b = x.outer.as_ref();
        }
        self.globals.get(name).copied()
    }

    /// a scope in which `name` is bound as well
    fn with(&self, name: &str, value: i64) -> Scope {
        let b = Binding { name: name.to_string(), value, outer: self.local.clone() };
        Scope { globals: self.globals.clone(), local: Some(Rc::new(b)) }
    }
}

struct Machine {
    functions: HashMap<String, Rc<Function>>,
    globals: Scope,
    calls: u64,
}

impl Machine {
    fn define(&mut self, name: &str, params: &[&str], body: &str) -> Result<(), EvalError> {
        let body = Parser::new(body).expr()?;
        self.functions.insert(name.to_string(), Rc::new(Function { params: params.iter().map(|p| p.to_string()).collect(), body }));
        Ok(())
    }

    fn eval(&mut self, e: &Expr, scope: &Scope) -> Result<i64, EvalError> {
        match e {
            Expr::Num(n) => Ok(*n),
            Expr::Var(v) => scope.get(v).ok_or_else(|| EvalError::Unbound(v.clone())),
            Expr::If(c, a, b) => {
                if self.eval(c, scope)? != 0 {
                    self.eval(a, scope)
                } else {
                    self.eval(b, scope)
                }
            }
            Expr::Let(name, value, body) => {
                let v = self.eval(value, scope)?;
                self.eval(body, &scope.with(name, v))
            }
            Expr::Call(name, args) => {
                let mut v = Vec::with_capacity(args.len());
                for a in args {
                    v.push(self.eval(a, scope)?);
                }
                self.call(name, &v)
            }
        }
    }

    fn call(&mut self, name: &str, v: &[i64]) -> Result<i64, EvalError> {
        self.calls += 1;
        match (name, v) {
            ("+", [a, b]) => return Ok(a.wrapping_add(*b)),
            ("-", [a, b]) => return Ok(a.wrapping_sub(*b)),
            ("*", [a, b]) => return Ok(a.wrapping_mul(*b)),
            ("%", [a, b]) if *b != 0 => return Ok(a % b),
            ("<", [a, b]) => return Ok((a < b) as i64),
            _ => {}
        }
        let f = self.functions.get(name).ok_or_else(|| EvalError::Unbound(name.to_string()))?.clone();
        let mut scope = self.globals.with(&f.params[0], v[0]);
        for (p, x) in f.params.iter().zip(v).skip(1) {
            scope = scope.with(p, *x);
        }
        self.eval(&f.body, &scope)
    }
}

fn run() -> Result<(), EvalError> {
    let mut vars = HashMap::new();
    for i in 0..90 {
        vars.insert(format!("const_{}", i), i * 7 % 31);
    }
    let globals = Scope { globals: Rc::new(vars), local: None };
    let mut m = Machine { functions: HashMap::new(), globals, calls: 0 };
    m.define("fib", &["n"], "(if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))")?;
    m.define("gcd", &["a", "b"], "(if (< b 1) a (let r (% a b) (gcd b r)))")?;
    m.define("sum", &["n", "acc"], "(if (< n 1) acc (let g (gcd n 360) (sum (- n 1) (+ acc (* g const_9)))))")?;
    m.define("weigh", &["n"], "(let a (* n const_3) (let b (+ a const_5) (let c (% b 97) (+ c const_40))))")?;
    let programs = ["(fib 25)", "(sum 400 0)", "(let x (fib 21) (+ (weigh x) (sum 300 1)))", "(weigh (weigh (fib 23)))"];
    for p in programs {
        let e = Parser::new(p).expr()?;
        let g = m.globals.clone();
        println!("{} = {} after {} calls", p, m.eval(&e, &g)?, m.calls);
    }
    Ok(())
}

fn main() {
    if let Err(e) = run() {
        eprintln!("{}", e);
        std::process::exit(1);
    }
}
