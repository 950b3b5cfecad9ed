// Command porcupine checks whether a history of etcd requests is linearizable.
//
// It reads one operation as JSON from each line of stdin, and writes one JSON object with the verdict to stdout:
// "ok", "illegal", or "unknown" if the check did not end in time. With -picture, it draws an illegal history as HTML.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is one request to one key. An empty value means that the key does not exist.
type operation struct {
	Client int    `json:"client"`
	Kind   string `json:"kind"`
	Key    string `json:"key"`
	// Value is the written value, of a get the read value.
	Value string `json:"value"`
	// Expected is the value that a cas compares with.
	Expected string `json:"expected"`
	// Done is true for a cas that was applied, and for a delete of an existing key.
	Done bool  `json:"done"`
	Call int64 `json:"call"`
	// Answered is false if the answer is not known.
	Answered bool `json:"answered"`
	// Return is absent if the request may be applied at any later time.
	Return *int64 `json:"return"`
}

type answer struct {
	isKnown bool
	done    bool
	value   string
}

type keyVerdict struct {
	Key        string `json:"key"`
	Operations int    `json:"operations"`
	Verdict    string `json:"verdict"`
}

type report struct {
	Verdict    string       `json:"verdict"`
	Operations int          `json:"operations"`
	Keys       []keyVerdict `json:"keys"`
}

func main() {
	limit := flag.Duration("limit", 5*time.Minute, "time limit of the check of each key")
	picture := flag.String("picture", "", "file for a drawing of the first illegal key")
	flag.Parse()
	history, err := read(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(check(history, *limit, *picture))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "porcupine:", err)
		os.Exit(1)
	}
}

func read(from io.Reader) (map[string][]porcupine.Operation, error) {
	history := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var next operation
		if err := json.Unmarshal(lines.Bytes(), &next); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if _, known := steps[next.Kind]; !known {
			return nil, fmt.Errorf("line %q: unknown kind", lines.Text())
		}
		history[next.Key] = append(history[next.Key], converted(next))
	}
	return history, lines.Err()
}

func converted(from operation) porcupine.Operation {
	returned := int64(math.MaxInt64)
	if from.Return != nil {
		returned = *from.Return
	}
	return porcupine.Operation{
		ClientId: from.Client,
		Input:    from,
		Call:     from.Call,
		Output:   answer{isKnown: from.Answered, done: from.Done, value: from.Value},
		Return:   returned,
	}
}

// check checks each key on its own: a history is linearizable if and only if the history of each key is.
func check(history map[string][]porcupine.Operation, limit time.Duration, picture string) report {
	result := report{Verdict: "ok", Keys: []keyVerdict{}}
	keys := make([]string, 0, len(history))
	for key := range history {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	for _, key := range keys {
		verdict := porcupine.CheckOperationsTimeout(model, history[key], limit)
		name := names[verdict]
		result.Keys = append(result.Keys, keyVerdict{Key: key, Operations: len(history[key]), Verdict: name})
		result.Operations += len(history[key])
		if verdict == porcupine.Illegal && result.Verdict != "illegal" && picture != "" {
			draw(history[key], picture)
		}
		if result.Verdict == "ok" || verdict == porcupine.Illegal {
			result.Verdict = name
		}
	}
	return result
}

// draw repeats the check with its details, which takes much longer.
func draw(history []porcupine.Operation, picture string) {
	_, info := porcupine.CheckOperationsVerbose(model, history, time.Minute)
	if err := porcupine.VisualizePath(model, info, picture); err != nil {
		fmt.Fprintln(os.Stderr, "porcupine: no picture:", err)
	}
}

var names = map[porcupine.CheckResult]string{
	porcupine.Ok: "ok", porcupine.Illegal: "illegal", porcupine.Unknown: "unknown",
}

// model is the register of one key. Its state is the value of the key.
var model = porcupine.Model{
	Init: func() interface{} { return "" },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		request := input.(operation)
		return steps[request.Kind](state.(string), request, output.(answer))
	},
	DescribeOperation: func(input, output interface{}) string {
		return describe(input.(operation), output.(answer))
	},
	DescribeState: func(state interface{}) string { return fmt.Sprintf("%q", state) },
}

type step func(state string, request operation, got answer) (bool, interface{})

var steps = map[string]step{
	"put": func(_ string, request operation, _ answer) (bool, interface{}) {
		return true, request.Value
	},
	"get": func(state string, _ operation, got answer) (bool, interface{}) {
		return !got.isKnown || got.value == state, state
	},
	"delete": func(state string, _ operation, got answer) (bool, interface{}) {
		return !got.isKnown || got.done == (state != ""), ""
	},
	"cas": func(state string, request operation, got answer) (bool, interface{}) {
		applies := state == request.Expected
		next := state
		if applies {
			next = request.Value
		}
		return !got.isKnown || got.done == applies, next
	},
}

func describe(request operation, got answer) string {
	text := map[string]string{
		"put":    fmt.Sprintf("put %q", request.Value),
		"get":    fmt.Sprintf("get: %q", got.value),
		"delete": fmt.Sprintf("delete: existed %t", got.done),
		"cas":    fmt.Sprintf("cas %q to %q: %t", request.Expected, request.Value, got.done),
	}[request.Kind]
	if !got.isKnown {
		text += ", not answered"
	}
	return text
}
