package modeltest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What Bedrock's server is asked with; the variables of the environment are named for the values.
const (
	AWSAccessKeyID     = "AKIATESTTESTTESTTEST"
	AWSSecretAccessKey = "secret/0123456789abcdefghijklmnopqrstuv"
	AWSRegion          = "eu-test-1"
)

// NewBedrock starts a server that speaks Bedrock's InvokeModel and InvokeModelWithResponseStream
// (https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html) with Claude behind
// it. It works out the signature of each request anew.
func NewBedrock(t testing.TB, answers ...Answer) *Wire { return newWire(t, bedrockWire{}, answers) }

type bedrockWire struct{ anthropicWire }

var (
	bedrockPath = regexp.MustCompile(`^/model/([^/]+)/(invoke|invoke-with-response-stream)$`)
	awsAuth     = regexp.MustCompile(`^AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/bedrock/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$`)
)

func (bedrockWire) check(w *Wire, r *http.Request, body []byte) (any, int, string) {
	raw, _, _ := strings.Cut(r.RequestURI, "?")
	m := bedrockPath.FindStringSubmatch(raw)
	if r.Method != http.MethodPost || m == nil {
		return w.violation("%s %s", r.Method, r.RequestURI)
	}
	if why := badSignature(r, raw, body); why != "" {
		return w.violation("%s", why)
	}
	id, err := url.PathUnescape(m[1])
	if err != nil {
		return w.violation("%s", raw)
	}
	return checkCloud(w, r, body, id, "model", "stream")
}

// checkCloud checks what a cloud wants otherwise than Anthropic does: the model in the path, the version in the body.
func checkCloud(w *Wire, r *http.Request, body []byte, id string, notIn ...string) (any, int, string) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return w.violation("%v", err)
	}
	for _, k := range notIn {
		if _, ok := fields[k]; ok {
			return w.violation("%s: Extra inputs are not permitted", k)
		}
	}
	for _, h := range []string{"anthropic-version", "x-api-key", "api-key"} {
		if r.Header.Get(h) != "" {
			return w.violation("the header %s is not for this cloud", h)
		}
	}
	if string(fields["anthropic_version"]) != `"2026-10-21"` {
		return w.violation("anthropic_version: %s", fields["anthropic_version"])
	}
	delete(fields, "anthropic_version")
	fields["model"] = encode(id)
	return checkAnthropic(w, encode(fields))
}

// badSignature works out a request's signature
// (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
func badSignature(r *http.Request, path string, body []byte) string {
	m := awsAuth.FindStringSubmatch(r.Header.Get("Authorization"))
	if m == nil || m[1] != AWSAccessKeyID || m[3] != AWSRegion {
		return "the request is not signed as it should be: " + r.Header.Get("Authorization")
	}
	names := strings.Split(m[4], ";")
	for _, must := range []string{"host", "x-amz-date"} {
		if !slices.Contains(names, must) {
			return must + " is not signed"
		}
	}
	var headers strings.Builder
	for _, n := range names {
		v := r.Header.Get(n)
		switch n {
		case "host":
			v = r.Host
		case "content-length":
			v = fmt.Sprint(len(body))
		}
		fmt.Fprintf(&headers, "%s:%s\n", n, strings.TrimSpace(v))
	}
	sum := sha256.Sum256(body)
	canonical := strings.Join([]string{r.Method, awsEscape(path), r.URL.RawQuery, headers.String(), m[4], hex.EncodeToString(sum[:])}, "\n")
	sum = sha256.Sum256([]byte(canonical))
	scope := m[2] + "/" + m[3] + "/bedrock/aws4_request"
	text := strings.Join([]string{"AWS4-HMAC-SHA256", r.Header.Get("X-Amz-Date"), scope, hex.EncodeToString(sum[:])}, "\n")
	key := []byte("AWS4" + AWSSecretAccessKey)
	for _, part := range []string{m[2], m[3], "bedrock", "aws4_request", text} {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(part))
		key = mac.Sum(nil)
	}
	if hex.EncodeToString(key) != m[5] {
		return "the signature does not match"
	}
	return ""
}

// awsEscape writes a path, which is escaped already, as signatures have it: escaped once more.
func awsEscape(path string) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c == '/' || c == '-' || c == '_' || c == '.' || c == '~' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func (bedrockWire) streams(path string) bool {
	return strings.HasSuffix(path, "/invoke-with-response-stream")
}
func (bedrockWire) contentType() string { return "application/vnd.amazon.eventstream" }

func (bedrockWire) fail(rw http.ResponseWriter, status int, kind, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Set("x-amzn-ErrorType", kind)
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]any{"message": message})
}

func (bedrockWire) failEvent(kind, message string) []byte {
	exception := map[string]string{"overloaded_error": "serviceUnavailableException", "rate_limit_error": "throttlingException"}[kind]
	return frame(map[string]string{":message-type": "exception", ":exception-type": exception, ":content-type": "application/json"},
		encode(map[string]any{"message": message}))
}

func (d bedrockWire) answer(w *Wire, request any, a Answer) ([]byte, [][]byte) {
	whole, events := d.anthropicWire.answer(w, request, a)
	frames := make([][]byte, 0, len(events))
	for _, ev := range events {
		_, data, _ := bytes.Cut(bytes.TrimSpace(ev), []byte("data: "))
		frames = append(frames, frame(map[string]string{":message-type": "event", ":event-type": "chunk", ":content-type": "application/json"},
			encode(map[string]any{"bytes": data, "p": "abcdefgh"}))) // bytes are base64 in JSON
	}
	return whole, frames
}

// frame writes a message of an event stream
// (https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html): lengths, their checksum, headers, payload,
// checksum.
func frame(headers map[string]string, payload []byte) []byte {
	var h bytes.Buffer
	for name, value := range headers {
		h.WriteByte(byte(len(name)))
		h.WriteString(name)
		h.WriteByte(7) // a string
		_ = binary.Write(&h, binary.BigEndian, uint16(len(value)))
		h.WriteString(value)
	}
	var b []byte
	b = binary.BigEndian.AppendUint32(b, uint32(16+h.Len()+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Len()))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, h.Bytes()...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}
