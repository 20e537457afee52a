"""A request that holds everything: over forty fields, unknown ones among them, items, parts and tools of every known and unknown kind.

It is bytes, in odd spellings, so that a test can see whether a value was rebuilt.
"""

FIELDS: dict[str, str] = {
    "model": '"m"',
    "stream": "true",
    "instructions": '"Be\\u0020brief."',
    "tool_choice": '{"type": "function", "name": "x y"}',
    "parallel_tool_calls": "false",
    "max_output_tokens": "1000",
    "reasoning": '{"effort": "low", "summary": "auto", "context": "all_turns"}',
    "text": '{"verbosity": "low", "format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": true}, "more": 1}',
    "top_logprobs": "3",
    "include": '["reasoning.encrypted_content", "unknown.thing"]',
    "temperature": "1e0",
    "top_p": "0.50",
    "presence_penalty": "0.10",
    "frequency_penalty": "-0.10",
    "seed": "12345678901234567890",
    "stop": '["\\u0041"]',
    "top_k": "40",
    "min_p": "0.050",
    "repetition_penalty": "1.10",
    "chat_template_kwargs": '{"enable_thinking" : false}',
    "ignore_eos": "true",
    "logit_bias": '{"50256" : -100}',
    "min_tokens": "1",
    "stop_token_ids": "[1, 2]",
    "cache_prompt": "true",
    "id_slot": "1",
    "grammar": '"root ::= \\"a\\""',
    "n_predict": "10",
    "cache_salt": '"s"',
    "structured_outputs": '{"regex" : "a"}',
    "user": '"me"',
    "metadata": '{"a" : "b"}',
    "service_tier": '"flex"',
    "prompt_cache_key": '"k"',
    "safety_identifier": '"me"',
    "store": "true",
    "truncation": '"disabled"',
    "max_tool_calls": "3",
    "stream_options": '{"include_obfuscation" : false}',
    "prompt_cache_retention": '"24h"',
    "prompt_cache_options": '{"mode" : "x"}',
    "client_metadata": '{"session_id" : "s"}',
    "access_programs": '["a"]',
    "context_management": '[{"type" : "compaction"}]',
    "moderation": "null",
    "unknown_null": "null",
    "unknown_object": '{"a" : [1.0, 1e2, 12345678901234567890]}',
    "unknown_list": '[ "a" ]',
    "unknown_false": "false",
    "unknown_zero": "0.0",
    "__proto__": '{"a" : 1}',
}

TOOLS = [
    '{"type":"function","name":"f","strict":false,"parameters":{"type":"object","properties":{}}}',
    '{"type": "function", "name": "x y", "strict": true, "parameters": null, "output_schema": {"a" : 1}}',
    '{"type":"function","name":"g","parameters":{"type":"object","properties":{"encrypted":{"type":"string","encrypted":true}}}}',
    '{"type": "custom", "name": "apply_patch", "format": {"type": "grammar", "syntax": "lark", "definition": "start: X"}}',
    '{"type": "namespace", "name": "mcp__x", "description": "", "tools": [{"type": "function", "name": "tool"}, {"type": "web_search"}]}',
    '{"type": "web_search", "external_web_access": true}',
    '{"type": "tool_search", "execution": "client", "description": "", "parameters": {}}',
    '{"type": "teleport", "to" : 1.0}',
    '{"type": "function", "name": "f"}',
    '{"type": "function", "name": ""}',
]
TOOLS_LOST = {
    "tools[3]": "its grammar",
    "tools[4].tools[1]": "nobody here runs web_search",
    "tools[5]": "nobody here runs web_search",
    "tools[7]": "nobody here runs teleport",
    "tools[8]": "a second tool named f",
    "tools[9]": "a tool without a name",
}
"""What any upstream of function tools alone must be told without: path, beginning of the reason."""

ITEMS = {
    "developer": '{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "One."}]}',
    "developer image": '{"type":"message","role":"developer","content":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}',
    "user": '{"role":"user","content":[{"type":"input_text","text":"Hi", "x" : 1.0},{"type":"input_image","image_url":"data:image/png;base64,AA==","detail":"original"}]}',
    "unknown parts": '{"type":"message","role":"user","content":[{"type":"hologram","data":"x"},{"type":"input_file","file_id":"f"},{"type":"input_text","text":"see"}]}',
    "sealed": '{"type": "reasoning", "summary": [], "encrypted_content": "ENC=="}',
    "reasoning": '{"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}], "encrypted_content": null}',
    "commentary": '{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"Well","annotations":[]}]}',
    "function call": '{"type":"function_call","id":"fc_1","call_id":"a","name":"f","arguments":"{\\"x\\":1.0}"}',
    "namespaced call": '{"type":"function_call","call_id":"b","namespace":"mcp__x","name":"tool","arguments":"{}"}',
    "custom call": '{"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": "*** Begin"}',
    "output": '{"type":"function_call_output","id":"fco_1","call_id":"a","output":"done"}',
    "image output": '{"type":"function_call_output","call_id":"b","output":[{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}',
    "custom output": '{"type": "custom_tool_call_output", "call_id": "c", "output": {"content": "ok", "success": true}}',
    "late developer": '{"type":"message","role":"developer","content":"Two."}',
    "web search": '{"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}',
    "tool search": '{"type": "tool_search_call", "call_id": "t", "execution": "client", "arguments": {"query": "x"}}',
    "compaction": '{"type": "compaction", "encrypted_content": "ENC=="}',
    "hologram": '{"type": "hologram", "data" : [1.0, null]}',
}  # fmt: skip
ITEMS_LOST = ("web search", "compaction", "hologram")
"""Items that no upstream of messages, reasoning and function calls alone can be given."""


def place(item: str) -> str:
    """An item's path in the request."""
    return f"input[{list(ITEMS).index(item)}]"


WHOLE = {**FIELDS, "tools": f"[{', '.join(TOOLS)}]", "input": f"[{', '.join(ITEMS.values())}]"}
BODY = "{" + ",\n ".join(f'"{name}" : {spelled}' for name, spelled in WHOLE.items()) + "}"
