// Package access decides who may ask and what may be read. Its functions are pure: the facts are handed in, gathered by
// package hub from GitHub's permission API, and nothing is looked up here.
//
// It promises to fail closed: a permission, a visibility or an id that is not known gives nothing. What it says to an
// asker never tells a repository that may not be seen from one that does not exist.
package access
