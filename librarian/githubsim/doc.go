// Package githubsim is a GitHub to run against: the REST endpoints, webhooks and git smart HTTP that librarian uses, on
// 127.0.0.1, over real git repositories.
//
// It owns an in-memory world (accounts, repositories, issues, Apps, installations) and one listener. The same world is changed
// from two sides: by the methods of [Server], which stand for people on the web site, and by requests to the API. Either way
// the webhooks that GitHub would send go out, signed, with a delivery log.
//
// It promises to refuse what GitHub refuses: an App's JWT is verified, an installation token is held to its repositories,
// permissions and hour, what may not be seen is 404, and limits are kept. It is stricter than kind: a client that works
// here for the wrong reason is a fault of this package. Status codes, field names and messages follow GitHub's REST reference
// (https://docs.github.com/en/rest). With LIBRARIAN_NPM set, as in .ci/run, the tests hold every answer, every event and the
// GraphQL schema to GitHub's own machine-readable descriptions, and list the few places where those are wrong.
//
// Paths, from [Server.URL]:
//
//	/api/v3/…                       the REST API, where an Enterprise host has it; see [Endpoints]
//	/api/graphql                    the part of the GraphQL API in schema.graphql: discussions, reactions
//	/{owner}/{repo}.git/…           git smart HTTP (upload-pack only), through git http-backend
//	/{owner}/{repo}/blob/{ref}/…    a file as plain text, so that links can be followed by curl; likewise raw and issues/{number}
//
// It needs the git binary. It never writes configuration into a repository it serves, and writes refs only where a caller asks
// for that ([Server.OpenPull], [Server.SetDefaultBranch]).
package githubsim
