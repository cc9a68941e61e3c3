// Package syntax says what a source file declares and which declaration encloses a line.
//
// It owns the knowledge of languages: their comments, strings, declaring words and ways to end a block. It works on the text
// alone, by indentation, braces and words, with strings and comments masked out first; it never fails, and says in Method
// how it got its answer. It promises line numbers that count from 1 and are inclusive, ranges that lie inside the file, and time
// that grows linearly with the file. It needs nothing: no compiler, no grammar files, no disk.
//
// A build with cgo and the tag treesitter has tree-sitter's grammars of C, C++, C#, Go, Java, JavaScript, PHP, Python, Ruby, Rust and
// TypeScript linked in, and asks them first. Files that are over 2 MiB, take too long or make no sense to the grammar, and all
// other languages, are read as above. The grammars are C code that runs in this process: what is known to crash them is kept from them.
package syntax
