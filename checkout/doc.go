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
// come are checked, by git as they come or by git fsck afterwards (fsck.go). What a
// clone on this machine lacks is left out of its tree and named (incomplete.go).
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
// The first search of many files has an index of the tree made (indexing.go):
// of each file, and in long files of each stretch of lines, which trigrams are
// in it, and which shapes of four bytes, a digit being one like any other. Later
// searches, of whatever process, leave out what cannot match (marks.go, gramquery.go). It is a cache beside the tree: where it is damaged or
// gone a search takes longer and finds the same.
//
// # Measured
//
// Ratios ours/baseline, smaller is better. The baseline is a blobless clone, then
// fetch, checkout, reset and clean in it, history with blobs fetched as git comes
// upon them; 50 ms are added to every request. Commit 26dbba1, git 2.39.5, two
// cores, 30 November 2026, the middle of three rounds. The command, in this
// folder, with LIBRARIAN_BENCH_LIMIT=1m and without BenchmarkHistoryAhead:
//
//	LIBRARIAN_BENCH_REPO=<bare repository> go test -run '^$' -bench . -benchtime 1x -timeout 60m .
//
//	repository               pallets/flask    curl/curl        symfony/symfony   synthetic     asked
//	commit                   2ac89889f4       5c61e16869       5feb7493c3
//	files, commits           236, 5,531       4,449, 39,490    13,139, 72,172    3,000, 5,000
//	cold-first-grep requests 3 of 5           3 of 5           3 of 5            3 of 5        4
//	                bytes    0.18             0.14             0.13              0.19          0.20
//	                time     0.42             0.24             0.36              0.28 (*)      0.50
//	warm-same-sha   fetches  0                0                0                 0             0
//	                time     0.0012           0.0011           0.0008            0.0012        0.20
//	second-sha      bytes    1.001            1.001            1.004             1.091         1.10
//	                time     0.92             1.01             1.03              1.00
//	pickaxe-range   requests 4 of 330         5 of 600         2 of 242          5 of 600      0.05
//	                time     0.025            0.037            0.080             0.024         0.20
//	blame           requests 2 of 564         1 of 872+        3 of 594+         1 of 228      0.05
//	                time     0.013            < 0.044          < 0.068           0.016         0.20
//	blame-first     time     0.032            < 0.13           < 0.30            0.11
//	eight-refs      time     0.24             0.37             0.47              0.39          1.00
//
// In pickaxe-range and blame-first ours begins with one commit and fetches the
// history too; in blame both have the commits and trees already. The baseline's
// blames of curl and symfony were ended after a minute (LIBRARIAN_BENCH_LIMIT) and
// would have gone on: those are upper bounds.
//
// (*) With temporary files in memory. On ext4 a new file takes 0.03 ms or 0.4 ms, the
// latter for minutes after many were deleted (the kernel then looks at each freed
// inode: recently_deleted in fs/ext4/ialloc.c); both ways write all files, so the synthetic
// repository's ratio was 0.29 and 0.34 at best and 0.45 to 0.55 in seven runs right
// after other runs' folders had gone.
//
// These are without the history ahead. With it a first acquire brings no less than
// the baseline's clone: bytes 1.03 (flask), 1.02 (synthetic), in 5 to 7 requests, all but the
// first three of them in the background. The first log then takes 43 ms (flask),
// 63 ms (synthetic) and no request, instead of 362 and 807 ms and 3 to 8 requests.
//
// What cold-first-grep's bytes and second-sha's come to is a matter of the repository: of the
// one ours are the newest commit's files and nothing else, of the other the
// missing files, as the baseline's, and the trees above them. The synthetic
// repository's commits are made so large that its history weighs, against its
// files, what real ones' does (see synthetic in the benchmarks). With small ones
// (LIBRARIAN_BENCH_SHAPE=young) cold bytes are 0.33, of which no client could fetch
// less, and second-sha's 1.14. With the history there second-sha is one request
// of four and 0.9994 of the bytes.
//
// Grep is our own scanner: git's grep speaks other dialects, ripgrep need not be
// installed, and a process for each search would have to be told what is a link and what is
// binary. Debian's Linux 6.1 (78,635 files, 1.3 GB) in the page cache, BenchmarkGrep at
// b6aeac4, ripgrep 13 and git grep (-F, -P) on the same files in turn, best of three;
// milliseconds, and in brackets the ratio of processor time: of the first search to the faster of the two (asked 1.3),
// of the third, which has the tree's index, to ripgrep (asked 0.3). 100 and 2,000 matches are what the
// tool shows by default and at most, the others' output cut by head.
//
//	                        matches   first        third        ripgrep  git grep
//	literal-rare                371   395 (1.18)   20 (0.06)        316       440
//	literal-frequent-100        100   6.1 (0.84)   1.6 (0.22)       6.4      13.1
//	literal-frequent-2000     2,000   11.9 (0.78)  3.2 (0.28)      10.6      41.6
//	regexp-rare               1,677   470 (0.34)   109 (0.08)      1271      2108
//	regexp-choice               652   644 (1.18)   198 (0.16)      1230       543
//	regexp-frequent-100         100   10.9 (0.61)  2.2 (0.10)      14.2      43.5
//	regexp-no-text              156   1036 (1.16)  200 (0.23)       874      1219
//	any-case                      0   312 (0.66)   34 (0.06)        479       470
//	literal-frequent      1,072,489   630 (1.20)   461 (1.00)       435       800
//
// The last row lists every one of a million matches, five hundred times what the tool does: the index
// leaves nothing out then, and the third search reads as much as the first. literal-frequent-100 was measured again at
// a9df7a9, where the listing is read faster. Searches that stop at a limit go through runs of files all over the tree
// first (searchorder.go), and find the same every time; ripgrep takes what it comes upon first. Making the index took
// 5 s of one processor, in the background, and 108 MB; of a further commit of the repository, what has changed.
//
// A repository of 500 MB is acquired in 21 MB of this process's memory
// (LIBRARIAN_LONG=1 go test -run TestMemory -v .).
package checkout
