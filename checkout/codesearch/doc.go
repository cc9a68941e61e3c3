// Package codesearch ranks the places of a source tree that answer a question: question in, (path, lines, symbol, score, why) out.
//
// It owns the cutting of files into function-sized chunks (declarations come from checkout/syntax), the index of a commit and its
// file on disk, and the ranking, all of whose weights stand in weights.go. It promises the same answer for the same tree and
// question, no network and no model of language (weights.go is all the numbers), reads that are bounded, and an index that many searches may use at once. It needs a
// Source: the paths of one tree, their blob ids, and a way to read them. It knows nothing of repositories, forges or models.
package codesearch
