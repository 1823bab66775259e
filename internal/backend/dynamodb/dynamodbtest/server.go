// Package dynamodbtest is a server that behaves as Amazon DynamoDB does (API version 2012-08-10, JSON 1.0), for tests:
// signatures are verified, tables have a key, scans come in pages, and PartiQL statements say for each item why it was
// not changed. It knows what external-dns asks for. Texts of errors are those of the service.
package dynamodbtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
)

// The only user.
const (
	AccessKeyID     = "AKIADYNAMODB00000001"
	SecretAccessKey = "secret/of+dynamodb"
)

// Attribute is a value as the API has it, of the types that external-dns uses.
type Attribute struct {
	S *string              `json:"S,omitempty"`
	M map[string]Attribute `json:"M,omitempty"`
	N *string              `json:"N,omitempty"`
}

// MarshalJSON keeps a map that has no members.
func (a Attribute) MarshalJSON() ([]byte, error) {
	switch {
	case a.S != nil:
		return json.Marshal(map[string]string{"S": *a.S})
	case a.N != nil:
		return json.Marshal(map[string]string{"N": *a.N})
	}
	return json.Marshal(map[string]map[string]Attribute{"M": a.M})
}

// Text is an attribute of the type S.
func Text(s string) Attribute { return Attribute{S: &s} }

// Item is one row.
type Item = map[string]Attribute

// Error is one as the service answers it.
type Error = route53test.Error

// Server is the service, with one table whose key is the string k.
type Server struct {
	URL  string
	Page int // items on a page of a scan; 0: all. It is set before the first request.

	table    string
	now      func() time.Time
	listener net.Listener
	http     *http.Server

	mu     sync.Mutex
	items  map[string]Item
	count  map[string]int
	inject func(operation string) *Error
}

// Start starts a server with a table.
func Start(ctx context.Context, table string, now func() time.Time) (*Server, error) {
	s := &Server{table: table, now: now, items: map[string]Item{}, count: map[string]int{}}
	var lc net.ListenConfig
	var err error
	if s.listener, err = lc.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("listening for DynamoDB: %w", err)
	}
	s.URL = "http://" + s.listener.Addr().String()
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(s.listener) }()
	return s, nil
}

// Stop has it listen no more.
func (s *Server) Stop() error { return route53test.Stop(s.http, s.listener) }

// Inject has a function asked before every request whether it fails; nil: it does not.
func (s *Server) Inject(f func(operation string) *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = f
}

// Count is how many requests for an operation were answered, with an error or without.
func (s *Server) Count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count[operation]
}

// Put stores an item.
func (s *Server) Put(i Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := i["k"]
	if key.S == nil {
		key.S = new(string)
	}
	s.items[*key.S] = i
}

// Own stores an item that gives the set of a key to an owner.
func (s *Server) Own(key, owner string) {
	s.Put(Item{"k": Text(key), "o": Text(owner), "l": {M: Item{"resource": Text("ingress/web/www")}}})
}

// Drop removes an item.
func (s *Server) Drop(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.items, key)
}

// Owners are the owners by key.
func (s *Server) Owners() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	owners := map[string]string{}
	for key, i := range s.items {
		owners[key] = *i["o"].S
	}
	return owners
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const largest = 16 << 20
	body, err := io.ReadAll(io.LimitReader(r.Body, largest))
	if err != nil {
		return
	}
	answer, err := s.answer(r, body)
	status := http.StatusOK
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = &Error{Status: http.StatusInternalServerError, Code: "InternalServerError", Message: err.Error()}
		}
		status = e.Status
		namespace := "com.amazon.coral.service#"
		if strings.HasPrefix(e.Code, "ResourceNotFound") || strings.HasPrefix(e.Code, "Provisioned") {
			namespace = "com.amazonaws.dynamodb.v20120810#"
		}
		answer = map[string]string{"__type": namespace + e.Code, "message": e.Message}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		status = http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // into a connection, whose client may be gone
}

// codes are those of this service for what is wrong with a signature.
func codes() map[string]string {
	return map[string]string{"MissingAuthenticationToken": "MissingAuthenticationTokenException",
		"IncompleteSignature": "IncompleteSignatureException", "InvalidClientTokenId": "UnrecognizedClientException",
		"SignatureDoesNotMatch": "InvalidSignatureException"}
}

// request has what this server reads of requests.
type request struct {
	TableName                 string
	FilterExpression          string
	ExpressionAttributeValues Item
	ProjectionExpression      string
	ExclusiveStartKey         Item
	Statements                []statement
}

type statement struct {
	Statement  string
	Parameters []Attribute
}

func (s *Server) answer(r *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := route53test.Signed(r, body, "dynamodb", s.now(), func(key string) (secret, token string, ok bool) {
		return SecretAccessKey, "", key == AccessKeyID
	})
	if e != nil {
		return nil, route53test.BadRequest(codes()[e.Code], "%s", e.Message)
	}
	operation, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")
	if !ok || r.Method != http.MethodPost || r.URL.Path != "/" {
		return nil, route53test.BadRequest("UnknownOperationException", "")
	}
	s.count[operation]++
	if s.inject != nil {
		if e := s.inject(operation); e != nil {
			return nil, e
		}
	}
	var ask request
	if err := json.Unmarshal(body, &ask); err != nil {
		return nil, route53test.BadRequest("SerializationException", "%v", err)
	}
	if operation != "BatchExecuteStatement" && ask.TableName != s.table {
		return nil, route53test.BadRequest("ResourceNotFoundException", "Requested resource not found")
	}
	switch operation {
	case "DescribeTable":
		return map[string]any{"Table": map[string]any{"TableName": s.table, "TableStatus": "ACTIVE",
			"AttributeDefinitions": []any{map[string]string{"AttributeName": "k", "AttributeType": "S"}},
			"KeySchema":            []any{map[string]string{"AttributeName": "k", "KeyType": "HASH"}}}}, nil
	case "Scan":
		return s.scan(ask)
	case "BatchExecuteStatement":
		return s.execute(ask)
	}
	return nil, route53test.BadRequest("UnknownOperationException", "")
}

// scan answers a page. A filter leaves items out of it, and makes it no longer.
func (s *Server) scan(ask request) (any, error) {
	owner := ask.ExpressionAttributeValues[":ownerval"].S
	if ask.FilterExpression != "" && (ask.FilterExpression != "o = :ownerval" || owner == nil) {
		return nil, route53test.BadRequest("ValidationException", "Invalid FilterExpression: %s", ask.FilterExpression)
	}
	attributes := strings.Split(ask.ProjectionExpression, ",")
	start := ""
	if key := ask.ExclusiveStartKey["k"].S; key != nil {
		start = *key
	}
	answer, seen := map[string]any{}, 0
	items := []Item{}
	for _, key := range slices.Sorted(maps.Keys(s.items)) {
		if start != "" && key <= start {
			continue
		}
		if s.Page > 0 && seen == s.Page {
			answer["LastEvaluatedKey"] = Item{"k": Text(start)}
			break
		}
		start, seen = key, seen+1
		i := s.items[key]
		if owner != nil && (i["o"].S == nil || *i["o"].S != *owner) {
			continue
		}
		shown := Item{}
		for _, a := range attributes {
			if v, has := i[a]; has || ask.ProjectionExpression == "" {
				shown[a] = v
			}
		}
		if ask.ProjectionExpression == "" {
			shown = i
		}
		items = append(items, shown)
	}
	answer["Items"], answer["Count"], answer["ScannedCount"] = items, len(items), seen
	return answer, nil
}
