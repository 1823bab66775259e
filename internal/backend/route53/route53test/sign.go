package route53test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// This file verifies signatures as "AWS Signature Version 4" is described, and shares nothing with a client.

// skew is how far clocks may differ.
const skew = 5 * time.Minute

func forbidden(code, message string) *Error { return &Error{http.StatusForbidden, code, message} }

// authenticate returns the user that has signed a request.
func (s *Server) authenticate(r *http.Request, body []byte) (*User, error) {
	var user *User
	e := Signed(r, body, "route53", s.o.Now(), func(key string) (secret, token string, ok bool) {
		if user = s.user(key); user == nil {
			return "", "", false
		}
		return user.SecretAccessKey, user.SessionToken, true
	})
	if e != nil {
		return nil, e
	}
	return user, nil
}

// Signed verifies that a request to a service is signed by somebody whom it knows by an access key.
func Signed(r *http.Request, body []byte, service string, now time.Time,
	known func(key string) (secret, token string, ok bool)) *Error {
	header := r.Header.Get("Authorization")
	fields, ok := strings.CutPrefix(header, "AWS4-HMAC-SHA256 ")
	if !ok {
		return forbidden("MissingAuthenticationToken", "Missing Authentication Token")
	}
	part := map[string]string{}
	for field := range strings.SplitSeq(fields, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		part[key] = value
	}
	scope := strings.Split(part["Credential"], "/")
	if len(scope) != 5 || scope[4] != "aws4_request" || part["SignedHeaders"] == "" || part["Signature"] == "" {
		return forbidden("IncompleteSignature",
			"Authorization header requires existence of 'Credential', 'SignedHeaders' and 'Signature' parameters.")
	}
	secret, token, ok := known(scope[0])
	if !ok || token != r.Header.Get("X-Amz-Security-Token") {
		return forbidden("InvalidClientTokenId", "The security token included in the request is invalid.")
	}
	date := r.Header.Get("X-Amz-Date")
	at, err := time.Parse("20060102T150405Z", date)
	if err != nil || scope[1] != date[:8] || scope[3] != service {
		return forbidden("SignatureDoesNotMatch", "Credential should be scoped to correct service: '"+service+"'.")
	}
	if now := now.UTC(); at.Before(now.Add(-skew)) || at.After(now.Add(skew)) {
		return forbidden("SignatureDoesNotMatch", fmt.Sprintf("Signature expired: %s is now earlier than %s", date,
			now.Add(-skew).Format("20060102T150405Z")))
	}
	digest := sha256.Sum256([]byte(canonicalRequest(r, part["SignedHeaders"], body)))
	text := strings.Join([]string{"AWS4-HMAC-SHA256", date, strings.Join(scope[1:], "/"), hex.EncodeToString(digest[:])},
		"\n")
	key := []byte("AWS4" + secret)
	for _, word := range scope[1:] {
		key = sum(key, word)
	}
	if want := hex.EncodeToString(sum(key, text)); !hmac.Equal([]byte(want), []byte(part["Signature"])) {
		return forbidden("SignatureDoesNotMatch",
			"The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "+
				"and signing method. Consult the service documentation for details.")
	}
	return nil
}

func sum(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func (s *Server) user(key string) *User {
	for _, a := range s.accounts {
		for _, u := range a.users {
			if u.AccessKeyID == key {
				return u
			}
		}
	}
	return nil
}

// canonicalRequest is what is signed of a request.
func canonicalRequest(r *http.Request, signed string, body []byte) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n%s\n", r.Method, escapePath(r.URL.EscapedPath()), canonicalQuery(r.URL.Query()))
	for name := range strings.SplitSeq(signed, ";") {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length":
			value = fmt.Sprint(len(body))
		}
		fmt.Fprintf(&b, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	digest := sha256.Sum256(body)
	fmt.Fprintf(&b, "\n%s\n%s", signed, hex.EncodeToString(digest[:]))
	return b.String()
}

// escapePath escapes a path once more.
func escapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = escape(p)
	}
	return strings.Join(parts, "/")
}

func canonicalQuery(values url.Values) string {
	var pairs []string
	for key, all := range values {
		for _, value := range all {
			pairs = append(pairs, escape(key)+"="+escape(value))
		}
	}
	slices.Sort(pairs)
	return strings.Join(pairs, "&")
}

// escape escapes everything but the unreserved characters of RFC 3986.
func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }
