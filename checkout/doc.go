// Package checkout keeps repositories on disk and hands out read-only working
// trees of single commits. It owns its folder, the only git processes of the
// service, and the network between them and the git hosts. It knows nothing of
// GitHub's API, of models or of runs.
//
// It promises: the tree handed out is the commit asked for, byte for byte what
// the commit's blobs hold; nothing a repository contains is executed, followed
// or obeyed; no secret reaches a git process, an argument, a file, a log or an
// error; a crash at any point leaves nothing that is later taken for complete;
// one repository's access classes share nothing; every limit of Budget ends in
// a BudgetError.
//
// It needs git 2.39.4 or newer (Start checks) and a local file system with
// flock. The folder is a cache: deleting it loses nothing but time.
//
//	s, err := checkout.New(checkout.Options{Dir: dir, Hosts: hosts})
//	err = s.Start(ctx)
//	c, err := s.Acquire(ctx, checkout.Request{Repo: repo, Ref: "main", Credentials: creds})
//	defer c.Release()
//	data, err := c.ReadFile(ctx, "README.md")
//
// # How it works
//
// A ref is resolved by one request of protocol version 2 that names it
// (lsrefs.go); git ls-remote would list a hundred thousand pull requests. What a
// host can do is asked meanwhile, and then not before each fetch (advert.go). The
// first commit of a store is fetched whole at depth 1, further ones without
// blobs and then, in one batch for all who wait, the blobs that are missing
// (ensure.go). Its history comes in the background while a tree is held
// (ahead.go), or when it is asked for (deepen.go). Git talks only to a relay in
// this process (relay.go), which adds the token, keeps to the allowed hosts and
// addresses, goes by way of HTTPS_PROXY, counts and bounds. What git is given, by
// its environment, is a pass for one command. A local command sees an ordinary
// repository with objects missing and cannot be made to fetch. All objects that
// come are checked, by git as they come or by git fsck afterwards (fsck.go).
//
// Trees are written by Go code from git cat-file, each blob hashed on the way
// (materialise.go), so attributes, filters, hooks and symbolic links have
// nothing to act on: a link is a plain file that holds its target. Files that
// trees share are linked. A tree or a store appears by a rename, under file
// locks that git's children inherit (lock.go): a killed process's orphans keep
// others out until they are gone. What is found damaged is thrown away and made
// anew (acquire.go, heal.go).
//
// Git 2.54 or newer is let fill in by itself, with git backfill, what a search
// through more than 50,000 versions of files needs; with older ones that is
// refused. Whether it can is found out at the start, like all else that is asked
// of git (probe.go). All tests run with the git that LIBRARIAN_TEST_GIT names.
//
// # Measured
//
// Ratios ours/baseline, smaller is better. The baseline is a blobless clone, then
// fetch, checkout, reset and clean in it, history with blobs fetched as git comes
// upon them; 50 ms are added to every request. Two shared, busy cores, git 2.39.5,
// temporary files in memory, 30 November 2026. The command, in this folder:
//
//	LIBRARIAN_BENCH_REPO=<bare repository> go test -run '^$' -bench . -benchtime 1x -timeout 60m .
//
//	repository               pallets/flask    curl/curl        symfony/symfony   synthetic
//	commit                   2ac89889f4       5c61e16869       5feb7493c3
//	files, commits           236, 5,531       4,449, 39,490    13,139, 72,172    3,000, 5,000
//	cold-first-grep requests 0.60 (3 of 5)    0.60             0.60              0.60
//	                bytes    0.18             0.14             0.13              0.19
//	                time     0.50             0.24             0.12              0.13
//	warm-same-sha   fetches  0                0                0                 0
//	                time     0.0012           0.0007           0.0009            0.0005
//	second-sha      bytes    1.002            1.001            1.001             1.091
//	                time     1.10             1.01             0.88              0.90
//	pickaxe-range   requests 0.024 (8 of 330) 0.007 (*)        0.017             0.017
//	                time     0.032            0.081 (*)        0.061             0.046
//	blame           requests 0.007 (4 of 564) not measured     0.004             0.009
//	                time     0.014            not measured     0.020             0.022
//	blame-first     time     0.032            not measured     not measured      0.135
//	eight-refs      time     0.39             0.29             0.26              0.35
//
// In pickaxe-range and blame-first ours begins with one commit and fetches the
// history too; in blame both have the commits and trees already. (*) was measured
// before Log fetched its history in steps. The baseline's blame of curl, and
// its second one of symfony, were ended after four minutes. Columns 1 and 2 are the middle of three rounds in
// the rows above pickaxe-range; the rest is one round.
//
// Grep is our own scanner everywhere. On symfony/symfony's tree in the page
// cache (best of five; git grep --no-index -P, ripgrep 13; BenchmarkGrep):
//
//	                    ours    git grep   ripgrep
//	plain text          123 ms    158 ms    153 ms
//	with a literal       83 ms    163 ms    124 ms
//	without a literal   256 ms    220 ms    222 ms
//	any case            209 ms    145 ms    105 ms
//
// Git's grep speaks other dialects, and a process for each search would have
// to be told what is a link and what is binary; for at most a factor of two on
// one kind of pattern that is not worth it.
//
// A repository of 500 MB is acquired in 20 MB of this process's memory
// (LIBRARIAN_LONG=1 go test -run TestMemory -v .).
package checkout
