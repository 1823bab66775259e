package dynamodbtest

import (
	"fmt"

	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
)

// execute changes items one by one. Errors are those of single statements.
func (s *Server) execute(ask request) (any, error) {
	const most = 25
	if n := len(ask.Statements); n == 0 || n > most {
		return nil, route53test.BadRequest("ValidationException", "1 validation error detected: Value at 'statements' "+
			"failed to satisfy constraint: Member must have length less than or equal to %d", most)
	}
	responses := []any{}
	for _, one := range ask.Statements {
		answer := map[string]any{"TableName": s.table}
		if e := s.change(one); e != nil {
			answer["Error"] = map[string]string{"Code": e.Code, "Message": e.Message}
		}
		responses = append(responses, answer)
	}
	return map[string]any{"Responses": responses}, nil
}

// change makes one statement, of the three that external-dns has.
func (s *Server) change(one statement) *Error {
	table := fmt.Sprintf("%q", s.table)
	p := one.Parameters
	texts := func(which ...int) bool {
		for _, i := range which {
			if i >= len(p) || p[i].S == nil {
				return false
			}
		}
		return true
	}
	lost := route53test.BadRequest("ConditionalCheckFailed", "The conditional request failed")
	switch {
	case one.Statement == "INSERT INTO "+table+" VALUE {'k':?, 'o':?, 'l':?}" && len(p) == 3 && texts(0, 1) &&
		p[2].M != nil:
		if _, has := s.items[*p[0].S]; has {
			return route53test.BadRequest("DuplicateItem", "Duplicate primary key exists in table")
		}
		s.items[*p[0].S] = Item{"k": p[0], "o": p[1], "l": p[2]}
	case one.Statement == "UPDATE "+table+` SET "l"=? WHERE "k"=?` && len(p) == 2 && texts(1) && p[0].M != nil:
		i, has := s.items[*p[1].S]
		if !has {
			return lost
		}
		s.items[*p[1].S] = Item{"k": i["k"], "o": i["o"], "l": p[0]}
	case one.Statement == "DELETE FROM "+table+` WHERE "k"=? AND "o"=?` && len(p) == 2 && texts(0, 1):
		i, has := s.items[*p[0].S]
		if has && (i["o"].S == nil || *i["o"].S != *p[1].S) {
			return lost // what is not there is deleted with success, whatever else the condition says
		}
		delete(s.items, *p[0].S)
	default:
		return route53test.BadRequest("ValidationError", "Statement wasn't well formed, can't be processed: %s",
			one.Statement)
	}
	return nil
}
