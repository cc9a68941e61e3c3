// Package handlers turns webhook deliveries of GitHub into requests. It owns the guard in front of the dispatcher
// ([NewWebhook]), one handler per event, and the reading of mentions ([Parse]).
//
// It promises that a delivery makes at most one [librarian.Request]; that a 2xx for a delivery that made one is only given
// after the [Enqueuer] has taken it; that the App's own comments and bots that are not allow-listed never start anything;
// and that deliveries which neither mention the App nor hold a word that it was told to wait for are neither decoded nor kept. It does nothing on the network and asks
// nobody for permission: that is decided later, over facts, by package access.
//
// It needs a webhook secret, the App's id and names, and an Enqueuer.
package handlers
