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
package checkout
