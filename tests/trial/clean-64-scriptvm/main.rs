//! A small scripting language: source text is compiled to byte code for a
//! stack machine, which is then run.

use std::collections::HashMap;

const SCRIPT: &str = include_str!("bench.scr");

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Num(i64),
    Name(String),
    Op(&'static str),
    End,
}

const OPERATORS: [&str; 16] =
    ["==", "<", ">", "=", "+", "-", "*", "/", "%", "(", ")", "{", "}", ",", ";", "!"];

fn lex(src: &str) -> Result<Vec<Token>, String> {
    let mut out = Vec::new();
    let mut rest = src.trim_start();
    while let Some(c) = rest.chars().next() {
        let len = if c.is_ascii_alphanumeric() {
            let len = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
            let word = &rest[..len];
            out.push(match word.parse() {
                Ok(n) => Token::Num(n),
                Err(_) => Token::Name(word.to_string()),
            });
            len
        } else {
            let op = OPERATORS.iter().find(|o| rest.starts_with(**o)).ok_or(format!("stray {c:?}"))?;
            out.push(Token::Op(op));
            op.len()
        };
        rest = rest[len..].trim_start();
    }
    out.push(Token::End);
    Ok(out)
}

#[derive(Clone, Copy, Debug)]
enum Instr {
    Const(i64),
    Local(u32),
    SetLocal(u32),
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Less,
    Greater,
    Equal,
    Jump(u32),
    JumpIfZero(u32),
    Call { func: u32, args: u32 },
    Return,
    Load,
    Store,
    Print,
    Pop,
}

struct Function {
    code: Vec<Instr>,
    params: u32,
    locals: u32,
}

struct Compiler {
    tokens: Vec<Token>,
    pos: usize,
    names: HashMap<String, u32>,
    functions: Vec<Function>,
    code: Vec<Instr>,
    scope: Vec<String>,
}

impl Compiler {
    fn compile(src: &str) -> Result<(Vec<Function>, u32), String> {
        let tokens = lex(src)?;
        // functions may be called before they are defined
        let mut names = HashMap::new();
        for pair in tokens.windows(2) {
            if let [Token::Name(kw), Token::Name(name)] = pair {
                if kw == "fn" {
                    names.insert(name.clone(), names.len() as u32);
                }
            }
        }
        let mut c = Compiler { tokens, pos: 0, names, functions: vec![], code: vec![], scope: vec![] };
        while c.tokens[c.pos] != Token::End {
            c.function()?;
        }
        let main = *c.names.get("main").ok_or("no main")?;
        Ok((c.functions, main))
    }

    fn next(&mut self) -> Token {
        self.pos += 1;
        self.tokens[self.pos - 1].clone()
    }

    fn accept(&mut self, op: &str) -> bool {
        let yes = matches!(&self.tokens[self.pos], Token::Op(o) if *o == op);
        self.pos += yes as usize;
        yes
    }

    fn keyword(&mut self, kw: &str) -> bool {
        let yes = matches!(&self.tokens[self.pos], Token::Name(n) if n == kw);
        self.pos += yes as usize;
        yes
    }

    fn expect(&mut self, op: &str) -> Result<(), String> {
        if self.accept(op) { Ok(()) } else { Err(format!("{op:?} expected, not {:?}", self.tokens[self.pos])) }
    }

    fn name(&mut self) -> Result<String, String> {
        match self.next() {
            Token::Name(n) => Ok(n),
            t => Err(format!("name expected, not {t:?}")),
        }
    }

    fn function(&mut self) -> Result<(), String> {
        if !self.keyword("fn") {
            return Err("fn expected".into());
        }
        self.name()?;
        self.scope.clear();
        self.expect("(")?;
        while !self.accept(")") {
            let p = self.name()?;
            self.scope.push(p);
            self.accept(",");
        }
        let params = self.scope.len() as u32;
        self.block()?;
        self.code.extend([Instr::Const(0), Instr::Return]);
        let code = std::mem::take(&mut self.code);
        self.functions.push(Function { code, params, locals: self.scope.len() as u32 });
        Ok(())
    }

    fn block(&mut self) -> Result<(), String> {
        self.expect("{")?;
        while !self.accept("}") {
            self.statement()?;
        }
        Ok(())
    }

    fn patch(&mut self, at: usize) {
        let here = self.code.len() as u32;
        match &mut self.code[at] {
            Instr::Jump(t) | Instr::JumpIfZero(t) => *t = here,
            _ => unreachable!(),
        }
    }

    fn condition(&mut self) -> Result<usize, String> {
        self.expression()?;
        self.code.push(Instr::JumpIfZero(0));
        Ok(self.code.len() - 1)
    }

    fn statement(&mut self) -> Result<(), String> {
        if self.keyword("while") {
            let start = self.code.len() as u32;
            let exit = self.condition()?;
            self.block()?;
            self.code.push(Instr::Jump(start));
            self.patch(exit);
            return Ok(());
        }
        if self.keyword("if") {
            let skip = self.condition()?;
            self.block()?;
            if self.keyword("else") {
                self.code.push(Instr::Jump(0));
                let end = self.code.len() - 1;
                self.patch(skip);
                self.block()?;
                self.patch(end);
            } else {
                self.patch(skip);
            }
            return Ok(());
        }
        if self.keyword("return") {
            self.expression()?;
            self.code.push(Instr::Return);
        } else if self.keyword("let") || matches!(&self.tokens[self.pos + 1], Token::Op("=")) {
            let n = self.name()?;
            self.expect("=")?;
            self.expression()?;
            let slot = self.scope.iter().position(|s| *s == n).unwrap_or(self.scope.len());
            if slot == self.scope.len() {
                self.scope.push(n);
            }
            self.code.push(Instr::SetLocal(slot as u32));
        } else {
            self.expression()?;
            self.code.push(Instr::Pop);
        }
        self.expect(";")
    }

    fn expression(&mut self) -> Result<(), String> {
        self.binary(&[("<", Instr::Less), (">", Instr::Greater), ("==", Instr::Equal)], |c| {
            c.binary(&[("+", Instr::Add), ("-", Instr::Sub)], |c| {
                c.binary(&[("*", Instr::Mul), ("/", Instr::Div), ("%", Instr::Rem)], Compiler::atom)
            })
        })
    }

    fn binary(
        &mut self,
        ops: &[(&str, Instr)],
        operand: fn(&mut Compiler) -> Result<(), String>,
    ) -> Result<(), String> {
        operand(self)?;
        while let Some((_, instr)) = ops.iter().find(|(o, _)| self.accept(o)) {
            operand(self)?;
            self.code.push(*instr);
        }
        Ok(())
    }

    fn atom(&mut self) -> Result<(), String> {
        if self.accept("(") {
            self.expression()?;
            return self.expect(")");
        }
        let name = match self.next() {
            Token::Num(n) => {
                self.code.push(Instr::Const(n));
                return Ok(());
            }
            Token::Name(n) => n,
            t => return Err(format!("unexpected {t:?}")),
        };
        if !self.accept("(") {
            let slot = self.scope.iter().position(|s| *s == name).ok_or(format!("no variable {name}"))?;
            self.code.push(Instr::Local(slot as u32));
            return Ok(());
        }
        let mut args = 0;
        while !self.accept(")") {
            self.expression()?;
            self.accept(",");
            args += 1;
        }
        self.code.push(match name.as_str() {
            "load" => Instr::Load,
            "store" => Instr::Store,
            "print" => Instr::Print,
            _ => Instr::Call { func: *self.names.get(&name).ok_or(format!("no function {name}"))?, args },
        });
        Ok(())
    }
}

struct Frame {
    func: u32,
    pc: u32,
    base: u32,
}

struct Vm<'a> {
    functions: &'a [Function],
    stack: Vec<i64>,
    frames: Vec<Frame>,
    memory: Vec<i64>,
    executed: u64,
}

impl Vm<'_> {
    fn run(&mut self, main: u32) -> Result<i64, String> {
        let functions = self.functions;
        let mut frame = Frame { func: main, pc: 0, base: 0 };
        let mut code = functions[main as usize].code.as_slice();
        self.stack.resize(functions[main as usize].locals as usize, 0);
        loop {
            let instr = code[frame.pc as usize];
            frame.pc += 1;
            self.executed += 1;
            match instr {
                Instr::Const(n) => self.stack.push(n),
                Instr::Local(i) => self.stack.push(self.stack[(frame.base + i) as usize]),
                Instr::SetLocal(i) => self.stack[(frame.base + i) as usize] = self.pop(),
                Instr::Add => self.arith(i64::wrapping_add),
                Instr::Sub => self.arith(i64::wrapping_sub),
                Instr::Mul => self.arith(i64::wrapping_mul),
                Instr::Div if *self.stack.last().unwrap() == 0 => return Err("division by zero".into()),
                Instr::Rem if *self.stack.last().unwrap() == 0 => return Err("division by zero".into()),
                Instr::Div => self.arith(i64::wrapping_div),
                Instr::Rem => self.arith(i64::wrapping_rem),
                Instr::Less => self.arith(|a, b| (a < b) as i64),
                Instr::Greater => self.arith(|a, b| (a > b) as i64),
                Instr::Equal => self.arith(|a, b| (a == b) as i64),
                Instr::Jump(t) => frame.pc = t,
                Instr::JumpIfZero(t) => {
                    if self.pop() == 0 {
                        frame.pc = t;
                    }
                }
                Instr::Call { func, args } => {
                    let f = &functions[func as usize];
                    if args != f.params || self.frames.len() > 10_000 {
                        return Err("bad call".into());
                    }
                    let base = self.stack.len() as u32 - args;
                    self.stack.resize((base + f.locals) as usize, 0);
                    self.frames.push(std::mem::replace(&mut frame, Frame { func, pc: 0, base }));
                    code = &f.code;
                }
                Instr::Return => {
                    let value = self.pop();
                    self.stack.truncate(frame.base as usize);
                    let Some(caller) = self.frames.pop() else { return Ok(value) };
                    frame = caller;
                    code = &functions[frame.func as usize].code;
                    self.stack.push(value);
                }
                Instr::Load => {
                    let at = self.pop() as usize;
                    self.stack.push(*self.memory.get(at).ok_or("address out of range")?);
                }
                Instr::Store => {
                    let (value, at) = (self.pop(), self.pop() as usize);
                    *self.memory.get_mut(at).ok_or("address out of range")? = value;
                    self.stack.push(value);
                }
                Instr::Print => println!("{}", self.stack.last().unwrap()),
                Instr::Pop => {
                    self.pop();
                }
            }
        }
    }

    #[inline]
    fn pop(&mut self) -> i64 {
        self.stack.pop().expect("the compiler balances the stack")
    }

    #[inline]
    fn arith(&mut self, f: impl Fn(i64, i64) -> i64) {
        let b = self.pop();
        let a = self.stack.last_mut().expect("the compiler balances the stack");
        *a = f(*a, b);
    }
}

fn main() -> Result<(), String> {
    let (functions, main) = Compiler::compile(SCRIPT)?;
    let size: usize = functions.iter().map(|f| f.code.len()).sum();
    println!("{} functions, {} instructions", functions.len(), size);
    let mut vm = Vm { functions: &functions, stack: vec![], frames: vec![], memory: vec![0; 1 << 20], executed: 0 };
    let status = vm.run(main)?;
    println!("status {status}, {} instructions executed", vm.executed);
    Ok(())
}
