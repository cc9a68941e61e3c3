package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// redacted stands where a secret stood.
const redacted = "[redacted]"

// minSecret is the least length of an exact value that is redacted; shorter ones would blank ordinary text.
const minSecret = 6

// secretShapes are the forms of credentials that are recognised by their looks. For GitHub's own see
// https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats.
var secretShapes = regexp.MustCompile(strings.Join([]string{
	`\bgh[pousr]_[A-Za-z0-9_.-]{16,}`,
	`\bgithub_pat_[A-Za-z0-9_]{16,}`,
	`\bglpat-[A-Za-z0-9_-]{16,}`,
	`\bnpm_[A-Za-z0-9]{30,}`,
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
	`\bAIza[A-Za-z0-9_-]{30,}`,
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`, // a JWT
	`(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)`, // PEM
	`(?i)\b(?:basic|bearer)[ \t]+[A-Za-z0-9+/_.=-]{24,}`,
	`\bsk-[A-Za-z0-9_-]{16,}`,
}, "|"))

// Redact replaces secrets by "[redacted]": whatever has the shape of a known credential, and the exact values, also as
// base64 (at any alignment, within a longer text too) and escaped for a URL. Values shorter than 6 bytes are not looked for.
func Redact(s string, exact []string) string {
	for _, form := range secretForms(exact) {
		s = strings.ReplaceAll(s, form, redacted)
	}
	s = secretShapes.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(m, "sk-") && !strings.ContainsAny(m, "0123456789") { // sk-learn-contrib and the like
			return m
		}
		return redacted
	})
	return s
}

// minKept is the least length of an exact value that is taken out of what is kept: a shorter one may be an ordinary word,
// such as the name of a field, and what is kept must still be read.
const minKept = 16

// RedactKept takes exact values of at least 16 bytes out of JSON that is kept, so that a secret which a model or a server
// said back does not outlive its run. Shapes of credentials stay: they may be the code that is asked about.
func RedactKept(raw json.RawMessage, exact []string) json.RawMessage {
	var long []string
	for _, v := range exact {
		if len(v) < minKept {
			continue
		}
		long = append(long, v)
		for _, html := range []bool{true, false} { // as text of JSON, which has escapes of its own
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			if enc.Encode(v) == nil {
				long = append(long, strings.Trim(strings.TrimSpace(b.String()), `"`))
			}
		}
	}
	s := string(raw)
	for _, form := range secretForms(long) {
		s = strings.ReplaceAll(s, form, redacted)
	}
	return json.RawMessage(s)
}

// secretForms are the spellings of exact values, longest first so that none is cut by another.
func secretForms(exact []string) []string {
	var forms []string
	add := func(f string) {
		if len(f) >= minSecret && !strings.Contains(redacted, f) {
			forms = append(forms, f)
		}
	}
	for _, v := range exact {
		if len(v) < minSecret {
			continue
		}
		add(v)
		add(url.QueryEscape(v))
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for shift := range 3 {
				// Only those characters are looked for that depend on v alone, whatever stands before and after it.
				b := enc.EncodeToString(append(make([]byte, shift), v...))
				from := (shift*8 + 5) / 6
				to := (shift + len(v)) * 8 / 6
				add(b[from:to])
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(forms)
}
