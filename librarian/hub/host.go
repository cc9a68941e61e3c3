package hub

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/librarian-app/librarian/librarian"
)

// DefaultAPIURL is the REST API of GitHub itself.
const DefaultAPIURL = "https://api." + librarian.GitHubHost + "/"

// endpoint is where a GitHub is.
type endpoint struct {
	api  *url.URL // ends in a slash
	web  string   // scheme://host, no slash at the end
	host string   // of web, lower-cased, with its port if it has one
}

// newEndpoint reads the API's URL and, where given, the web site's. Without one the site is derived as GitHub documents it: an
// Enterprise Server has its API at https://HOST/api/v3, GitHub and its data-residency hosts at https://api.HOST.
// Plain http is accepted for loopback only.
func newEndpoint(apiURL, webURL string) (endpoint, error) {
	if apiURL == "" {
		apiURL = DefaultAPIURL
	}
	api, err := parseBase(apiURL)
	if err != nil {
		return endpoint{}, fmt.Errorf("API URL: %w", err)
	}
	web := &url.URL{Scheme: api.Scheme, Host: api.Host}
	switch {
	case webURL != "":
		if web, err = parseBase(webURL); err != nil {
			return endpoint{}, fmt.Errorf("web URL: %w", err)
		}
		if web.Path != "" {
			return endpoint{}, errors.New("web URL: has a path")
		}
	case api.Path == "" && strings.HasPrefix(api.Host, "api."):
		web.Host = strings.TrimPrefix(api.Host, "api.")
	}
	api.Path += "/"
	return endpoint{api: api, web: web.String(), host: web.Host}, nil
}

func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, errors.New("is not a URL") // the cause would repeat a password that stands in it
	}
	switch {
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("has more than scheme, host and path")
	case u.Hostname() == "":
		return nil, errors.New("has no host")
	case u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())):
		return nil, errors.New("is not https")
	}
	return &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: strings.TrimRight(u.Path, "/")}, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// is reports whether u is on the API's host, by the same scheme.
func (e endpoint) is(u *url.URL) bool {
	return u.Scheme == e.api.Scheme && strings.EqualFold(u.Host, e.api.Host)
}
