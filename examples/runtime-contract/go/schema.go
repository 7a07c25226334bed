package longhaul

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"unicode/utf8"
)

// problemsOf checks an answer against a flat JSON Schema: an object of strings, numbers, booleans, choices and lists of choices.
// It returns why the content does not fit.
func problemsOf(schema, content map[string]any) []string {
	if content == nil {
		return []string{"content: expected an object"}
	}
	properties := object(schema["properties"])
	var problems []string
	for _, name := range list(schema["required"]) {
		name := fmt.Sprint(name)
		if _, isGiven := content[name]; !isGiven {
			problems = append(problems, "content."+name+": missing")
		}
	}
	for name, value := range content {
		property, isKnown := properties[name]
		if isKnown {
			problems = append(problems, problemsOfValue(object(property), value, "content."+name)...)
		} else if schema["additionalProperties"] == false {
			problems = append(problems, "content."+name+": unknown field")
		}
	}
	sort.Strings(problems)
	return problems
}

func withDefaults(schema, content map[string]any) map[string]any {
	complete := map[string]any{}
	for name, property := range object(schema["properties"]) {
		if value, hasDefault := object(property)["default"]; hasDefault {
			complete[name] = value
		}
	}
	for name, value := range content {
		complete[name] = value
	}
	return complete
}

func problemsOfValue(schema map[string]any, value any, name string) []string {
	if kinds := texts(schema["type"]); len(kinds) > 0 && !slices.ContainsFunc(kinds, func(kind string) bool { return isOf(kind, value) }) {
		return []string{fmt.Sprintf("%s: expected %v; got %v", name, kinds, value)}
	}
	var problems []string
	expect := func(isFine bool, format string, values ...any) {
		if !isFine {
			problems = append(problems, name+": expected "+fmt.Sprintf(format, values...))
		}
	}
	if expected, isSet := schema["const"]; isSet {
		expect(same(expected, value), "%v", expected)
	}
	if choices := list(schema["enum"]); choices != nil {
		isOne := func(one any) bool { return same(one, value) }
		expect(slices.ContainsFunc(choices, isOne), "one of %v", choices)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		if choices := list(schema[keyword]); choices != nil {
			fits := func(one any) bool { return len(problemsOfValue(object(one), value, name)) == 0 }
			expect(slices.ContainsFunc(choices, fits), "one of the choices")
		}
	}
	switch value := value.(type) {
	case string:
		expectSize(schema, "minLength", "maxLength", utf8.RuneCountInString(value), expect)
		if pattern, isSet := schema["pattern"].(string); isSet {
			compiled, err := regexp.Compile(pattern)
			expect(err == nil && compiled.MatchString(value), "a text that matches %s", pattern)
		}
	case []any:
		expectSize(schema, "minItems", "maxItems", len(value), expect)
		for at, item := range value {
			problems = append(problems, problemsOfValue(object(schema["items"]), item, fmt.Sprintf("%s[%d]", name, at))...)
		}
	default:
		if number, isNumber := numberOf(value); isNumber {
			expectRange(schema, number, expect)
		}
	}
	return problems
}

func expectSize(schema map[string]any, least, most string, size int, expect func(bool, string, ...any)) {
	if bound, isSet := numberOf(schema[least]); isSet {
		expect(float64(size) >= bound, "%s %v", least, bound)
	}
	if bound, isSet := numberOf(schema[most]); isSet {
		expect(float64(size) <= bound, "%s %v", most, bound)
	}
}

func expectRange(schema map[string]any, number float64, expect func(bool, string, ...any)) {
	fits := map[string]func(bound float64) bool{
		"minimum":          func(bound float64) bool { return number >= bound },
		"maximum":          func(bound float64) bool { return number <= bound },
		"exclusiveMinimum": func(bound float64) bool { return number > bound },
		"exclusiveMaximum": func(bound float64) bool { return number < bound },
	}
	for keyword, fit := range fits {
		if bound, isSet := numberOf(schema[keyword]); isSet {
			expect(fit(bound), "%s %v", keyword, bound)
		}
	}
}

func isOf(kind string, value any) bool {
	number, isNumber := numberOf(value)
	switch kind {
	case "string":
		_, fits := value.(string)
		return fits
	case "boolean":
		_, fits := value.(bool)
		return fits
	case "number":
		return isNumber
	case "integer":
		return isNumber && number == math.Trunc(number)
	case "array":
		_, fits := value.([]any)
		return fits
	case "object":
		_, fits := value.(map[string]any)
		return fits
	}
	return kind == "null" && value == nil
}

// same is JSON's equality: schemas in Go code may have any type of number.
func same(one, other any) bool {
	first, isFirst := numberOf(one)
	second, isSecond := numberOf(other)
	if isFirst || isSecond {
		return isFirst && isSecond && first == second
	}
	return reflect.DeepEqual(one, other)
}

func numberOf(value any) (float64, bool) {
	number := reflect.ValueOf(value)
	switch {
	case !number.IsValid():
		return 0, false
	case number.CanFloat():
		return number.Float(), true
	case number.CanInt():
		return float64(number.Int()), true
	case number.CanUint():
		return float64(number.Uint()), true
	}
	return 0, false
}

func object(value any) map[string]any {
	found, _ := value.(map[string]any)
	return found
}

// list takes []any, and slices of other types, as schemas in Go code may have them.
func list(value any) []any {
	if found, isList := value.([]any); isList {
		return found
	}
	items := reflect.ValueOf(value)
	if items.Kind() != reflect.Slice {
		return nil
	}
	found := make([]any, items.Len())
	for at := range found {
		found[at] = items.Index(at).Interface()
	}
	return found
}

func texts(value any) []string {
	if one, isOne := value.(string); isOne {
		return []string{one}
	}
	var found []string
	for _, each := range list(value) {
		found = append(found, fmt.Sprint(each))
	}
	return found
}
