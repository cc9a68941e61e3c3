// Package hub asks GitHub for facts, and mints the tokens that others act with.
//
// It owns the App's private key, every installation token and the cache of GitHub's answers. A [Hub] tells who somebody is
// in a repository ([Hub.Permission]), what a repository is ([Hub.ByID], [Hub.ByName]), what stands in a thread
// ([Hub.Thread]) and which settings its repository has ([Layers]); it decides nothing. It never writes to GitHub, but for asking
// again for deliveries that failed ([MissedDeliveries]): the client that can is handed out by [Hub.PostClient].
//
// It promises:
//
//   - "Does not exist" and "may not be seen" are one error, [librarian.ErrNotFound].
//   - A token is minted for one repository and the few permissions its use needs, at use, and minted again once when GitHub
//     refuses it. It goes to the API's own host only, and stands in no error, log line or printed value.
//   - An answer that was kept is shown only after GitHub confirmed it to a token of the same installation and class.
//   - Reads wait out a short rate limit and repeat what broke on the way; a longer one is a [librarian.RateLimitError].
//
// It needs an API to talk to and either an App's key, a person's token, or neither: then it sees what is public.
package hub
