// The intermediate language: functions of instructions that use each other.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

struct Inst {
    enum Op { Const, Arg, Add, Mul, Xor, Phi, Call, Ret } op;
    std::string name;
    int64_t imm = 0;
    std::vector<Inst *> operands, users;
    bool live = false;
};

struct Function {
    std::string name;
    std::vector<Inst *> body;
};

// Replaces instructions whose value is known by constants; returns how many.
int propagate_constants(Function &f);
