package checkout

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// hostRules say which hosts may be spoken to, and at what addresses.
type hostRules struct {
	allow   []string // "host" or "host:port", lower case
	private []string // of those, the ones that may live at loopback or private addresses
}

// egressError says that the rules forbid a host or an address.
type egressError struct{ reason string }

func (e *egressError) Error() string { return e.reason }

// check applies the rules that need no resolution.
func (h hostRules) check(u *url.URL) error {
	switch {
	case u.User != nil:
		return &egressError{"has a URL with user information, which is refused"}
	case u.RawQuery != "" && u.RawQuery != "service=git-upload-pack", u.Fragment != "":
		return &egressError{"has a URL with a query, which is refused"}
	case !match(h.allow, u.Host) && !match(h.private, u.Host):
		return &egressError{"is on a host that is not allowed"}
	case isAddress(u.Hostname()) && !match(h.private, u.Host) && !isPublic(netip.MustParseAddr(u.Hostname()).Unmap()):
		return &egressError{"is on a host that is not at a public address"} // a proxy would not ask
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && match(h.private, u.Host) && isLoopback(u.Hostname()):
		return nil
	}
	return &egressError{"must be fetched over https"}
}

// dial connects to an address that was checked after resolution, so that a
// name cannot resolve to one thing for the check and to another for the use.
func (h hostRules) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	ips := []netip.Addr{}
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = append(ips, ip)
	} else if ips, err = net.DefaultResolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 15 * time.Second}
	err = &egressError{"is on a host that has no address"}
	for _, ip := range ips {
		ip = ip.Unmap()
		if !isPublic(ip) && !match(h.private, addr) && !match(h.private, host) {
			return nil, &egressError{"is on a host that is not at a public address"}
		}
		var c net.Conn
		if c, err = d.DialContext(ctx, network, net.JoinHostPort(ip.String(), port)); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// match reports whether a list of "host" and "host:port" names hostport.
func match(list []string, hostport string) bool {
	hostport = strings.ToLower(hostport)
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	return slices.Contains(list, hostport) || slices.Contains(list, host)
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func isLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback()
	}
	return host == "localhost"
}

// notPublic are ranges that netip's own predicates do not name: shared address
// space, benchmarking, documentation, reserved, NAT64 and 6to4 (RFC 6890).
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("fec0::/10"),
}

func isPublic(ip netip.Addr) bool {
	if !ip.IsGlobalUnicast() || ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() {
		return false
	}
	return !slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(ip) })
}

func lowerAll(list []string) ([]string, error) {
	out := make([]string, 0, len(list))
	for _, h := range list {
		if strings.ContainsAny(h, "/@ ") || h == "" {
			return nil, fmt.Errorf("%q is not a host", h)
		}
		out = append(out, strings.ToLower(h))
	}
	return out, nil
}
