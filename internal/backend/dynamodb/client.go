package dynamodb

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/route53"
	"github.com/zonefold/zonefold/internal/backend/webcall"
	"github.com/zonefold/zonefold/internal/budget"
)

// Config says which table it is, and whose. It holds a secret, and is in no error and no log.
type Config struct {
	Account route53.Config // its Endpoint is DynamoDB's
	Table   string
	Reads   *budget.Pool
}

// FromSecret reads the credentials that Route 53 takes too. The options are endpoint and stsEndpoint.
func FromSecret(data map[string][]byte, region, table string, options map[string]string) (Config, error) {
	account, err := route53.FromSecret(data, region, options)
	if err == nil && !tableName.MatchString(table) {
		err = fmt.Errorf("%q is not the name of a DynamoDB table", table)
	}
	return Config{Account: account, Table: table}, err
}

// UsesSurroundings reports whether the credentials are those of the process: not everybody may have it use them.
func (c Config) UsesSurroundings() bool { return c.Account.UsesSurroundings() }

var tableName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{3,255}$`)

const (
	mostPage = 16 << 20 // octets of one answer: the service puts 1 MiB of items on a page, which JSON makes longer
	patience = 30 * time.Second
)

// A client makes calls of DynamoDB's API (version 2012-08-10, JSON 1.0).
type client struct {
	url, region, table string
	credentials        func(context.Context) (aws.Credentials, error)
	web                *http.Client
	now                func() time.Time
}

func newClient(cfg Config, now func() time.Time) (*client, error) {
	region, err := cfg.Account.NamedRegion()
	if err != nil {
		return nil, err
	}
	if region == "" && cfg.Account.Endpoint == "" {
		return nil, errors.New("its region is missing; set it in spec.registries[].dynamoDB.region of the " +
			"Backend, or with --dynamodb-region")
	}
	c := &client{url: cfg.Account.Endpoint, region: cmp.Or(region, route53.DefaultRegion), table: cfg.Table, now: now}
	if c.url == "" {
		c.url = "https://dynamodb." + c.region + ".amazonaws.com"
		if strings.HasPrefix(c.region, "cn-") {
			c.url += ".cn"
		}
	}
	if c.credentials, err = cfg.Account.Credentials(); err != nil {
		return nil, err
	}
	c.web, err = webcall.NewClient(webcall.Config{MaxAnswer: mostPage, Reads: cfg.Reads, Timeout: patience,
		Judge: c.judge})
	return c, err
}

// call makes one request. Errors have a class.
func (c *client) call(ctx context.Context, operation string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+"/", bytes.NewReader(body))
	if err != nil {
		return &backend.Error{Class: backend.ErrUnavailable, Err: err}
	}
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	credentials, err := c.credentials(ctx)
	if err != nil {
		return fmt.Errorf("getting credentials for DynamoDB: %w", err)
	}
	digest := sha256.Sum256(body)
	err = v4.NewSigner().SignHTTP(ctx, credentials, request, hex.EncodeToString(digest[:]), "dynamodb", c.region, c.now())
	if err != nil {
		return fmt.Errorf("signing a request to DynamoDB: %w", err)
	}
	response, err := c.web.Do(request)
	if err != nil {
		return withClass(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return withClass(err)
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return broken("the answer to %s cannot be read: %w", operation, err)
	}
	return nil
}

// withClass gives an error that has no class that of a service which cannot be reached.
func withClass(err error) *backend.Error {
	if e, ok := errors.AsType[*backend.Error](err); ok {
		return e
	}
	return &backend.Error{Class: backend.ErrUnavailable, Err: err}
}

// judge reads an answer that is an error.
func (c *client) judge(a webcall.Answer) *backend.Error {
	var said struct {
		Type    string `json:"__type"`
		Message string `json:"message"` // or Message: case does not matter
	}
	if json.Unmarshal(a.Body, &said) != nil || said.Type == "" {
		e := &backend.Error{Class: backend.ErrUnavailable, Words: webcall.Words(a.Status, a.Text())}
		switch a.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			e.Class = backend.ErrNotAuthorised
		case http.StatusTooManyRequests:
			e.Class = backend.ErrThrottled
		}
		return e
	}
	_, code, ok := strings.Cut(said.Type, "#")
	if !ok {
		code = said.Type
	}
	return c.classed(code, said.Message)
}

// classed gives a code of the service a class, and says what to do.
func (c *client) classed(code, message string) *backend.Error {
	e := &backend.Error{Class: backend.ErrUnavailable, Words: webcall.Words(0, code+": "+message)}
	switch strings.TrimSuffix(code, "Exception") {
	case "ResourceNotFound":
		e.Cause, e.Err = backend.CauseInvalid, fmt.Errorf("the table does not exist in the region %s; create it, or "+
			"correct the table and region in spec.registries[].dynamoDB of the Backend", c.region)
	case "AccessDenied":
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthorised
		e.Err = errors.New("allow the credentials dynamodb:Scan on the table, and, to adopt an owner, also " +
			"dynamodb:PartiQLInsert and dynamodb:PartiQLDelete")
	case "UnrecognizedClient", "InvalidSignature", "MissingAuthenticationToken", "IncompleteSignature", "ExpiredToken":
		e.Class, e.Cause = backend.ErrNotAuthorised, backend.CauseUnauthenticated
		e.Err = errors.New("correct the credentials in the Secret of spec.registries[].dynamoDB of the Backend")
	case "Throttling", "ThrottlingError", "ProvisionedThroughputExceeded", "RequestLimitExceeded":
		e.Class, e.Err = backend.ErrThrottled, errors.New("give the table more capacity, or capacity on demand")
	case "Validation", "ValidationError":
		e.Class, e.Cause = backend.ErrRejected, backend.CauseInvalid
	}
	return e
}

// broken is an answer that is none.
func broken(format string, args ...any) error {
	return &backend.Error{Class: backend.ErrUnavailable, Err: fmt.Errorf(format, args...)}
}
