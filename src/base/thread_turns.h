// How the calling thread shares the cores with others: how much of them, and how soon it gets its
// turn. Nobody needs a right for it, and where the kernel knows nothing of turns nothing is lost.
// Thread: any; about the calling one.
#pragma once
#include <cstdint>

namespace millstream::base {

// For threads that answer: short turns, which they take often. A kernel from 6.12 on lets a thread
// that wakes up go before one that has asked for longer turns.
void take_short_turns();
// For threads that compute beside them: `nice_added` on top of the nice value, and turns of a usual
// length, which give way to the short ones.
void give_way(int nice_added);

}  // namespace millstream::base
