package codesearch

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// File is one file of a tree.
type File struct {
	Path string // slash-separated, relative to the tree
	Hash string // the blob id; equal hashes mean equal bytes. "" when not known: the content is hashed instead
	Size int64  // in bytes; 0 when not known
}

// Source is one tree to search. Both methods may be called from several goroutines.
type Source interface {
	// Files lists the regular files of the tree; symbolic links and submodules are left out.
	Files(ctx context.Context) ([]File, error)
	// Read gives a file's content, or its first limit bytes.
	Read(ctx context.Context, f File, limit int64) ([]byte, error)
}

// TreeSource is a Source over a file system such as os.Root's FS.
type TreeSource struct{ FS fs.FS }

// Files walks the tree. `.git` is left out.
func (s TreeSource) Files(ctx context.Context) ([]File, error) {
	var files []File
	err := fs.WalkDir(s.FS, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		var size int64
		if info, err := d.Info(); err == nil {
			size = info.Size()
		}
		files = append(files, File{Path: p, Size: size})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk: %w", err)
	}
	return files, nil
}

// Read opens and reads one file.
func (s TreeSource) Read(_ context.Context, f File, limit int64) ([]byte, error) {
	r, err := s.FS.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, limit))
}

// pathKind sorts files by what they are for; the ranking weighs each kind.
type pathKind uint8

const (
	kindSource pathKind = iota
	kindTest
	kindDocs
	kindExample
	kindVendored
	kindGenerated
	kindConfig
	kindBench
	kindTypes   // declarations without code: .d.ts, .pyi
	kindTooling // what builds, lints and releases the project
	pathKinds
)

// testFolder reports whether a folder is called by what it tests: JarTests, Jar.UnitTests, jvmIntegrationTest.
func testFolder(name string) bool {
	for _, end := range []string{"Test", "Tests", "TestSuite", "Specs"} {
		if len(name) > len(end) && strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// kindOf judges a path by its folders and name, the first bytes by the mark of generated code.
func kindOf(p, language string, src []byte) pathKind {
	low := strings.ToLower(p)
	dirs := strings.Split(low, "/")
	base := dirs[len(dirs)-1]
	dirs = dirs[:len(dirs)-1]
	written := strings.Split(p, "/")
	for _, d := range dirs {
		switch d {
		case "vendor", "node_modules", "third_party", "third-party", "thirdparty", "external", "externals", "bower_components", "deps", "dist", ".yarn", "contrib":
			return kindVendored
		}
	}
	if strings.HasSuffix(base, ".min.js") || strings.HasSuffix(base, ".min.css") || strings.HasSuffix(base, ".pb.go") || strings.HasSuffix(base, "_pb2.py") || strings.HasSuffix(base, ".g.dart") || strings.HasSuffix(base, ".designer.cs") || generatedMark(src) {
		return kindGenerated
	}
	for i, d := range dirs {
		if len(written) > i && testFolder(written[i]) {
			return kindTest
		}
		switch d {
		case "test", "tests", "testing", "__tests__", "spec", "specs", "testdata", "fixtures", "fixture", "mocks", "__mocks__", "e2e", "integration-tests", "type-tests", "testutil", "testsuite", "unittests", "jvmtest", "commontest", "androidtest", "jstest", "nativetest":
			return kindTest
		case "example", "examples", "demo", "demos", "sample", "samples", "playground", "sandbox", "tutorial", "tutorials", "docs_src":
			return kindExample
		case "bench", "benches", "benchmark", "benchmarks", "perf", "fuzz":
			return kindBench
		case "doc", "docs", "documentation", "changelogs", "changelog", "website", "locale", "locales", "i18n", "translations":
			return kindDocs
		}
		if strings.HasSuffix(d, "-test") || strings.HasSuffix(d, "-tests") || strings.HasSuffix(d, "_test") || strings.HasSuffix(d, "_tests") || strings.HasSuffix(d, ".tests") || strings.HasPrefix(d, "test-") || strings.HasPrefix(d, "test_") {
			return kindTest
		}
		if strings.HasPrefix(d, "example-") || strings.HasPrefix(d, "examples-") || strings.HasSuffix(d, "-examples") {
			return kindExample
		}
		if strings.HasSuffix(d, "-benchmarks") || strings.HasSuffix(d, "-bench") {
			return kindBench
		}
	}
	stem := base
	if i := strings.IndexByte(stem, '.'); i > 0 {
		stem = stem[:i]
	}
	orig := p[strings.LastIndexByte(p, '/')+1:]
	if i := strings.IndexByte(orig, '.'); i > 0 {
		orig = orig[:i]
	}
	switch {
	case strings.HasSuffix(stem, "_test"), strings.HasPrefix(stem, "test_"), strings.HasSuffix(stem, "_spec"), strings.HasSuffix(stem, "-test"),
		stem == "tests", stem == "test" && len(dirs) == 0,
		strings.Contains(base, ".test."), strings.Contains(base, ".spec."), strings.Contains(base, ".test-d."), strings.HasSuffix(orig, "Test"), strings.HasSuffix(orig, "Tests"), strings.HasSuffix(orig, "TestCase"), strings.HasSuffix(orig, "Spec"), stem == "conftest":
		return kindTest
	case strings.Contains(stem, "benchmark") || strings.HasSuffix(stem, "_bench"):
		return kindBench
	}
	switch language {
	case "markdown", "restructuredtext", "asciidoc", "text":
		return kindDocs
	case "configuration", "sql", "":
		return kindConfig
	}
	if tooling(base, dirs) {
		return kindTooling
	}
	if strings.HasSuffix(base, ".d.ts") || strings.HasSuffix(base, ".d.cts") || strings.HasSuffix(base, ".d.mts") || strings.HasSuffix(base, ".pyi") {
		return kindTypes
	}
	return kindSource
}

// tooling reports whether a source file serves the project's making rather than its use.
func tooling(base string, dirs []string) bool {
	if len(dirs) > 0 {
		switch dirs[0] {
		case "scripts", "script", "hack", "ci", ".ci", ".github", ".circleci", "eng", "tooling", "devtools":
			return true
		}
	}
	if strings.HasPrefix(base, ".") || strings.Contains(base, ".conf.") || strings.Contains(base, ".config.") {
		return true
	}
	stem, _, _ := strings.Cut(base, ".")
	switch stem {
	case "gulpfile", "gruntfile", "rakefile", "setup", "noxfile", "build", "cake", "jenkinsfile", "dangerfile", "fastfile", "podfile", "gemfile":
		return len(dirs) == 0
	}
	return false
}

// generatedMark looks for the customary comment in a file's first lines (https://go.dev/s/generatedcode and its kin).
func generatedMark(src []byte) bool {
	head := string(src[:min(len(src), 1024)])
	return strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@generated") || strings.Contains(head, "<auto-generated") || strings.Contains(head, "Autogenerated by") || strings.Contains(head, "automatically generated")
}
