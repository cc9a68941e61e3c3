package model

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScout_Doc(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, symbol, text, want string }{
		{"a sentence", "add", "// Adds two numbers. And more.\nfunc add() {}", "Adds two numbers."},
		{"a banner", "", "/*****\n *                                  _   _ ____  _\n *  Project                     ___| | | |  _ \\| |\n *                             / __| | | | |_) | |\n */\nint x;", ""},
		{"a comment whose beginning was not read", "Walk", " * as well can walk backwards. It is slow.\n */\nclass Walk {}", ""},
		{"a rule", "", "// ---------------------------------------------------\nvar x = 1", ""},
		{"the name alone", "remove_expired", "/*\n * remove_expired()\n */\nvoid remove_expired(void) {}", ""},
		{"a section's own title", "Why do I get 403?", "# Why do I get 403?\n\nBecause.", ""},
		{"a licence", "", "// Copyright 2014 Somebody. All rights reserved.\npackage x", ""},
		{"another licence", "", "// SPDX-License-Identifier: MIT\npackage x", ""},
		{"Javadoc", "X", "/**\n * Writes {@code null} as {@link Foo#bar}.\n * <p>More.\n */\nvoid x() {}", "Writes `null` as `Foo#bar`."},
		{"Doxygen", "x", "/// @brief Frees the handle.\nvoid x();", "Frees the handle."},
		{"C#", "x", "/// <summary>\n/// Reads a <see cref=\"T:System.Byte\"/> from it.\n/// </summary>\nvoid X() {}", "Reads a `System.Byte` from it."},
		{"what it inherits", "x", "/**\n * {@inheritdoc}\n */\nfunction x() {}", ""},
		{"what it inherits in C#", "X", "/// <inheritdoc />\nvoid X() {}", ""},
		{"what it inherits and more", "x", "/**\n * {@inheritDoc} Never gives null.\n */\nT x() {}", "Never gives null."},
		{"another script", "x", "// 返回会话的签名密钥并验证它。\nfunc x() {}", "返回会话的签名密钥并验证它。"},
		{"an abbreviation ends no sentence", "x", "// Takes one (e.g. the first) if it is there. And more.\nfunc x() {}", "Takes one (e.g. the first) if it is there."},
		{"a script", "", "#!/usr/bin/env ruby\n# frozen_string_literal: true\n\nrequire 'x'", ""},
		{"a script with a word", "", "#!/bin/sh\n# shellcheck disable=SC2034\n# Starts the server again.\nx=1", "Starts the server again."},
		{"what a linter reads", "x", "/* eslint-disable no-console */\n// Prints all of it.\nfunction x() {}", "Prints all of it."},
		{"an encoding", "", "# -*- coding: utf-8 -*-\nimport x", ""},
		{"generics stay", "x", "/// Returns a Vec<String> of names.\nfn x() {}", "Returns a Vec<String> of names."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, scoutCandidate{Path: "a", Symbol: tt.symbol, text: tt.text}.doc())
		})
	}
}

// What stands for a < in Javadoc is a < to its reader; a function that makes entities says what it makes.
func TestScout_DocOfEntities(t *testing.T) {
	t.Parallel()
	text := "/** Turns &lt;b&gt; &amp; &#39;x&#x27; into &unknowable; text. */\nvoid x() {}"
	require.Equal(t, "Turns <b> & 'x' into &unknowable; text.", scoutCandidate{Path: "a/B.java", Symbol: "x", text: text}.doc())
	require.Equal(t, "Turns &lt;b&gt; &amp; &#39;x&#x27; into &unknowable; text.", scoutCandidate{Path: "a/b.js", Symbol: "x", text: text}.doc())
}

func TestP2_ScoutNamesPlacesInCode(t *testing.T) {
	t.Parallel()
	require.Equal(t, "`x`", code("x"))
	require.Equal(t, "``` a``b ```", code("a``b"))
	require.Equal(t, "`a b`", code("a\nb"))
	at := func(path, symbol string) string {
		return scoutCandidate{Path: path, Symbol: symbol, Kind: "function", Start: 3, End: 9, from: 3, to: 9}.title()
	}
	require.Equal(t, "the function `f` in `a b.go:3`", at("a b.go", "f"))
	require.Equal(t, "the section `1.0 (May)` in `a.md:1`", scoutCandidate{Path: "a.md", Symbol: "[1.0](https://x.example) (`May`)", Kind: "section", Start: 1, End: 2, from: 1, to: 2}.title())
	require.Equal(t, "the function `f`", at("a`b.go", "f"), "prose cannot name it; the location does")
	require.Equal(t, "the function `f`", at("a\nb.go", "f"))
}

func TestScout_MoreNamesEachPlaceOnce(t *testing.T) {
	t.Parallel()
	c := &conversation{}
	c.read = append(c.read, []scoutCandidate{{Path: "lib/http.c", Symbol: "follow"}, {Path: "lib/a.c", Symbol: "parse"}, {Path: "lib/b.c", Symbol: "go"}, {Path: "lib/c.c", Symbol: "parse"}, {Path: "lib/http.h", Symbol: "follow"}}...)
	require.Equal(t, []string{"parse", "go", "http.h"}, c.more())
}

func TestScout_AsksWithoutTheRepositorysName(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"how does acme/curl follow redirects?":                   "how does  follow redirects?",
		"In Acme/Curl, where is it?":                             "In , where is it?",
		"where in https://github.com/acme/curl.git are cookies?": "where in  are cookies?",
		"what does acme/curl/lib do?":                            "what does acme/curl/lib do?",
		"what does acme/curly do?":                               "what does acme/curly do?",
		"acme/curl?":                                             "acme/curl?", // nothing else is asked
	} {
		c := &conversation{brief: brief{Question: question, Place: "acme/app", Repos: []string{"acme/curl"}}}
		require.Equal(t, want, c.question(), question)
	}
}

func TestScout_ProjectInPassing(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"how does drizzle-orm do this?":                                     "drizzle-orm",
		"how does socket.io do this?":                                       "socket.io",
		"where is res.redirect?":                                            "", // code, not a project
		"what calls os.path.join in utils.py?":                              "",
		"my key is sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, why?": "", // W6: no key becomes a search
	} {
		c := &conversation{brief: brief{Question: question, Place: "acme/app"}}
		require.Equal(t, want, c.project(), question)
	}
}

func TestG10_ScoutLeavesOutWhatJSONCannotName(t *testing.T) {
	t.Parallel()
	c := &conversation{found: []scoutFound{{Repo: "acme/app", Confidence: 1, Candidates: []scoutCandidate{
		{Path: "inv\ufffd.py", Start: 1, End: 2, Score: 1}, {Path: "ok.py", Start: 1, End: 2, Score: 1},
	}}}}
	require.Len(t, c.wanted(), 1)
	require.Equal(t, "ok.py", c.wanted()[0].Path)
}

func TestScout_SaysHowWellItFits(t *testing.T) {
	t.Parallel()
	place := func(repo, name string) scoutCandidate {
		return scoutCandidate{repo: repo, Path: "a/" + name + ".go", Start: 1, End: 3, from: 1, to: 3, Symbol: name, Kind: "function", text: "// It does " + name + " all day.\nfunc x() {}"}
	}
	one := func(fit string) string {
		c := &conversation{brief: brief{Question: "how?", Repos: []string{"acme/app"}}, opened: []scoutCheckout{{Repo: "acme/app"}}, found: []scoutFound{{Repo: "acme/app", Confidence: .3, Fit: fit}}}
		c.read = []scoutCandidate{place("acme/app", "park"), place("acme/app", "hold")}
		return c.summary()
	}
	require.Equal(t, "The best match is the function `park` in `a/park.go:1`: It does park all day. See also `hold`.", one("good"))
	require.Equal(t, "The nearest match, which may not be what is asked, is the function `park` in `a/park.go:1`: It does park all day. See also `hold`.", one("doubtful"))
	require.Contains(t, one("poor"), "Nothing in acme/app matches this question well enough")
	require.Contains(t, one(""), "Nothing in acme/app", "a search that does not say is not taken at its best")

	c := &conversation{brief: brief{Question: "how?", Repos: []string{"acme/app", "acme/lib", "acme/doc"}}}
	for _, r := range c.brief.Repos {
		c.opened = append(c.opened, scoutCheckout{Repo: r})
	}
	c.found = []scoutFound{{Repo: "acme/app", Confidence: .9, Fit: "good"}, {Repo: "acme/lib", Confidence: .4, Fit: "doubtful"}, {Repo: "acme/doc", Confidence: .1, Fit: "poor"}}
	c.read = []scoutCandidate{place("acme/app", "park"), place("acme/lib", "store"), place("acme/app", "hold")}
	require.Equal(t, "In acme/app: the function `park` in `a/park.go:1`: It does park all day. "+
		"In acme/lib, in doubt: the function `store` in `a/store.go:1`: It does store all day. Nothing in acme/doc matches as well.", c.summary())
}

func TestScout_ReadsAFunctionOnce(t *testing.T) {
	t.Parallel()
	c := &conversation{found: []scoutFound{{Repo: "acme/app", Confidence: 1, Candidates: []scoutCandidate{
		{Path: "a.py", Start: 1, End: 50, Score: 1, Symbol: "long"}, {Path: "a.py", Start: 51, End: 100, Score: 1, Symbol: "long"}, {Path: "b.py", Start: 1, End: 5, Score: 1, Symbol: "long"},
	}}}}
	require.Len(t, c.wanted(), 2)
	require.Equal(t, "b.py", c.wanted()[1].Path)
}

// A host that was down or busy is asked once more, and no more; what is not there is not.
func TestScout_AsksOnceMore(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"a/down": "a/down could not be fetched: the host answered 502. The host may be down or busy; try once more, else say so in the findings.",
		"a/busy": "GitHub could not be asked about a/busy just now. Try again later, or go on without it.",
		"a/gone": "a/gone was not found, or may not be read from here.",
	}
	call := Call{Tools: []ToolSpec{{Name: "checkout_repo"}, {Name: "provide_results"}}, Messages: []Message{{Role: User, Parts: []Part{
		{Kind: Text, Text: "?", Data: json.RawMessage(`{"question":"how?","place":"a/down","repos":["a/down","a/busy","a/gone"]}`)}}}}}
	turn := func() (asked []string) {
		reply, err := Scout{}.Generate(t.Context(), call)
		require.NoError(t, err)
		results := Message{Role: User}
		for _, p := range reply.Message.Parts {
			var args struct{ Repo, Description string }
			require.NoError(t, json.Unmarshal(p.Args, &args))
			asked = append(asked, p.Tool+" "+args.Repo+args.Description)
			results.Parts = append(results.Parts, Part{Kind: ToolResult, CallID: p.CallID, Tool: p.Tool, IsError: true, Text: said[args.Repo]})
		}
		call.Messages = append(call.Messages, reply.Message, results)
		return asked
	}
	require.Equal(t, []string{"checkout_repo a/down", "checkout_repo a/busy", "checkout_repo a/gone"}, turn())
	require.Equal(t, []string{"checkout_repo a/down", "checkout_repo a/busy"}, turn())
	last := turn()
	require.Len(t, last, 1)
	require.Contains(t, last[0], "provide_results ")
	for name, text := range said {
		require.Equal(t, 1, strings.Count(last[0], "- "+text), name)
	}
}
