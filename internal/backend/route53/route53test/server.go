// Package route53test is a server that behaves as Amazon Route 53 does (API version 2013-04-01), for tests: signatures
// are verified, batches are atomic and checked against what a zone holds, deletions have to name what is there, lists
// come in pages, changes take a while, and each account has its rate and its quotas. Texts of errors are those of the
// service, as its users have quoted them.
package route53test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Options are what differs from the service. The zero value of each but Now is the service's.
type Options struct {
	Now   func() time.Time
	Delay time.Duration // from a change to its being everywhere; 0: at once
	Rate  float64       // requests a second of an account; 0: any number
	Burst int           // how many may come at once
	Page  int           // most sets on a page; 0: 300
	Sets  int           // most sets in a zone; 0: 10,000
}

// Server is the service, with some accounts.
type Server struct {
	URL string

	o        Options
	address  string
	listener net.Listener
	http     *http.Server
	mu       sync.Mutex
	accounts []*Account
	zones    map[string]*zone
	changes  map[string]time.Time // since when they are everywhere
	count    map[string]int
	serial   int
	inject   func(operation string) *Error
}

// Account is an AWS account.
type Account struct {
	ID     string
	server *Server
	tokens float64 // of its rate
	filled time.Time
	users  []*User
	busy   bool // others use up its rate
}

// User is one who has credentials.
type User struct {
	Name                         string
	AccessKeyID, SecretAccessKey string
	SessionToken                 string          // the client has to send it too
	Denied                       map[string]bool // operations that its policies do not allow
	account                      *Account
	role, token                  string // its credentials are those of a role that is assumed with a token
}

// Error is one as the service answers it.
type Error struct {
	Status        int
	Code, Message string
}

// Error tells it.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// BadRequest is an error for which the client is to blame.
func BadRequest(code, format string, args ...any) *Error {
	return &Error{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

// New makes a server that listens nowhere: whoever has it calls ServeHTTP.
func New(o Options) *Server {
	s := &Server{o: o, address: "127.0.0.1:0", zones: map[string]*zone{}, changes: map[string]time.Time{},
		count: map[string]int{}}
	if s.o.Page == 0 {
		s.o.Page = 300
	}
	if s.o.Sets == 0 {
		s.o.Sets = 10_000
	}
	return s
}

// Start starts a server at an address of this machine.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := New(o)
	return s, s.Resume(ctx)
}

// Resume has a server that was stopped listen again, with what it had.
func (s *Server) Resume(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.address)
	if err != nil {
		return fmt.Errorf("listening for Route 53: %w", err)
	}
	s.address, s.listener = l.Addr().String(), l
	s.URL = "http://" + s.address
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func(server *http.Server) { _ = server.Serve(l) }(s.http)
	return nil
}

// Stop has it listen no more.
func (s *Server) Stop() error { return Stop(s.http, s.listener) }

// Stop has a server listen no more, also if it has not begun to serve: what it does not know of yet it does not close,
// and clients connect to that.
func Stop(s *http.Server, l net.Listener) error {
	err := s.Close()
	if closing := l.Close(); !errors.Is(closing, net.ErrClosed) {
		err = errors.Join(err, closing)
	}
	return err
}

// NewAccount adds an account.
func (s *Server) NewAccount() *Account {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &Account{ID: fmt.Sprintf("%012d", 111122223333+len(s.accounts)), server: s, tokens: float64(s.o.Burst),
		filled: s.o.Now()}
	s.accounts = append(s.accounts, a)
	return a
}

// NewUser adds a user with an access key.
func (a *Account) NewUser(name string) *User {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	return a.newUser(name)
}

func (a *Account) newUser(name string) *User {
	n := len(a.users)
	u := &User{Name: name, AccessKeyID: fmt.Sprintf("AKIA%s%04d", a.ID, n),
		SecretAccessKey: fmt.Sprintf("secret/%s+%s%04d", name, a.ID, n), account: a}
	a.users = append(a.users, u)
	return u
}

// NewRole adds a role that is assumed with a token, and returns the user that has its credentials.
func (a *Account) NewRole(arn, token string) *User {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	u := a.newUser(arn)
	u.role, u.token, u.SessionToken = arn, token, "session of "+arn
	return u
}

// Rotate gives a user another key; the former one works no more.
func (u *User) Rotate() {
	u.account.server.mu.Lock()
	defer u.account.server.mu.Unlock()
	u.AccessKeyID += "R"
	u.SecretAccessKey += "R"
}

// Exhaust has others use up the rate of an account, or no longer.
func (a *Account) Exhaust(others bool) {
	a.server.mu.Lock()
	defer a.server.mu.Unlock()
	a.busy = others
}

// Deny has the policies of a user not allow an operation.
func (u *User) Deny(operation string) {
	u.account.server.mu.Lock()
	defer u.account.server.mu.Unlock()
	u.Denied = map[string]bool{operation: true}
}

// Account is whose user it is.
func (u *User) Account() *Account { return u.account }

// Inject has a function asked before every request whether it fails; nil: it does not.
func (s *Server) Inject(f func(operation string) *Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inject = f
}

// Count is how many requests for an operation were answered, with an error or without; "" for all.
func (s *Server) Count(operation string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if operation != "" {
		return s.count[operation]
	}
	n := 0
	for _, c := range s.count {
		n += c
	}
	return n
}

const apiVersion = "/2013-04-01/"

// largest is the size of a request that is read, in octets.
const largest = 1 << 20

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, largest))
	if err != nil {
		return
	}
	if r.URL.Path == "/" && r.Method == http.MethodPost {
		s.assumeRole(w, body)
		return
	}
	answer, err := s.answer(r, body)
	if err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = &Error{http.StatusInternalServerError, "InternalFailure", err.Error()}
		}
		writeXML(w, e.Status, errorXML{Type: "Sender", Code: e.Code, Message: e.Message,
			RequestID: "00000000-1111-2222-3333-444444444444"})
		return
	}
	writeXML(w, http.StatusOK, answer)
}

// answer says what comes of a request.
func (s *Server) answer(r *http.Request, body []byte) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, err := s.authenticate(r, body)
	if err != nil {
		s.count["denied"]++
		return nil, err
	}
	operation, id, serve := s.route(r)
	if serve == nil {
		return nil, &Error{http.StatusNotFound, "UnknownOperationException", "The requested operation is not implemented."}
	}
	s.count[operation]++
	if s.inject != nil {
		if e := s.inject(operation); e != nil {
			return nil, e
		}
	}
	if !user.account.take() {
		s.count["throttled"]++
		return nil, BadRequest("Throttling", "Rate exceeded")
	}
	if user.Denied[operation] {
		return nil, &Error{http.StatusForbidden, "AccessDenied", fmt.Sprintf(
			"User: arn:aws:iam::%s:user/%s is not authorized to perform: route53:%s on resource: "+
				"arn:aws:route53:::hostedzone/%s because no identity-based policy allows the route53:%s action",
			user.account.ID, user.Name, operation, id, operation)}
	}
	return serve(user.account, id, r, body)
}

// take takes one request out of the account's rate.
func (a *Account) take() bool {
	o, now := a.server.o, a.server.o.Now()
	switch {
	case a.busy:
		return false
	case o.Rate == 0:
		return true
	}
	a.tokens = min(float64(o.Burst), a.tokens+now.Sub(a.filled).Seconds()*o.Rate)
	a.filled = now
	if a.tokens < 1 {
		return false
	}
	a.tokens--
	return true
}

// An operation answers a request about a zone or a change with an ID.
type operation func(a *Account, id string, r *http.Request, body []byte) (any, error)

// route finds the operation of a request.
func (s *Server) route(r *http.Request) (name, id string, serve operation) {
	parts := strings.Split(strings.Trim(strings.TrimPrefix(r.URL.Path, apiVersion), "/"), "/")
	if !strings.HasPrefix(r.URL.Path, apiVersion) {
		return "", "", nil
	}
	if len(parts) > 1 {
		id = parts[1]
	}
	switch shape := fmt.Sprintf("%s %s %d", r.Method, parts[0], len(parts)); {
	case shape == "GET hostedzone 1":
		return "ListHostedZones", id, s.listZones
	case shape == "GET hostedzonesbyname 1":
		return "ListHostedZonesByName", id, s.listZonesByName
	case shape == "GET hostedzone 2":
		return "GetHostedZone", id, s.getZone
	case shape == "GET change 2":
		return "GetChange", id, s.getChange
	case shape == "GET hostedzone 3" && parts[2] == "rrset":
		return "ListResourceRecordSets", id, s.listSets
	case shape == "POST hostedzone 3" && parts[2] == "rrset":
		return "ChangeResourceRecordSets", id, s.changeSets
	}
	return "", "", nil
}
