"""The words that rules are made of, in English."""

ENGLISH = {
    # setting aside what was said
    "displace": "ignore ignores ignoring disregard disregards disregarding forget forgets forgetting override "
    "overriding overrule overrules overruling discard discarding neglect nullify supersede abandon erase "
    "dismiss scrap unlearn disobey bypass",
    "prior": "previous previously prior earlier above preceding foregoing former initial original existing past "
    "before current old beforehand hitherto received given got standing",
    "all": "all any every everything entire whole each",
    "everything": "everything anything",
    "orders": "instruction instructions directive directives prompt prompts guideline guidelines instuctions "
    "instrutions instructons programming",
    "limits": "rule rules constraint constraints restriction restrictions policy policies limit limits limitation "
    "limitations order orders command commands guardrail guardrails boundaries task tasks context "
    "conditioning guidance principles ethics training safeguards protocols codes messages conversation "
    "conversations info filters identity information knowledge directions request",
    "your": "your you ur yours",
    "the": "the these those this following that",
    "new": "new different updated real actual true",
    "follow": "follow following followed obey obeying comply complying adhere abide heed observe",
    "gone": "forgotten irrelevant obsolete outdated replaced superseded void invalid lifted overridden revoked "
    "disregarded cancelled canceled ignored suspended",
    # who speaks and who is spoken to
    "you": "you u ya youre youve youll yourself",
    "ai": "ai llm llms gpt chatgpt gpt4 gpt3 assistant assistants chatbot chatbots claude gemini copilot codex "
    "agent agents bot model models",
    "user": "user users human humans operator owner anyone anybody reader developer developers reviewer reviewers "
    "nobody",
    "now": "now henceforth hereafter onwards onward forth",
    "offword": "off",
    "from": "from starting beginning since effective",
    "is": "are is be being become becomes were was am",
    "not": "not dont never cannot cant wont shouldnt doesnt mustnt isnt no without nor didnt neither avoid",
    "without": "without no zero lacking sans",
    "must": "must shall should always will need have required mandatory ought needs",
    "always": "always every each whenever",
    "never": "never dont no cannot",
    "answer": "answer answers answering respond responds responding reply replies comply proceed generate output say",
    "apply": "apply applies applied valid binding meant matter",
    # another self
    "pretend": "pretend pretending act acting roleplay impersonate impersonating simulate simulating behave embody "
    "embodying immerse imagine play playing pose respond answer emulate transform portray",
    "persona": "persona personas character role ego personality personalities",
    "dan": "dan dude stan jailbreak jailbroken antigpt betterdan evilbot",
    "free": "unrestricted unfiltered uncensored unbound unbounded jailbroken amoral unethical unaligned "
    "unmoderated limitless unconstrained unhinged unrestrained unshackled lawless",
    "bond": "confines shackles chains typical bonds constraints limits limitations restrictions rules filters",
    "mode": "mode modes",
    "special": "developer god jailbreak sudo unrestricted privileged opposite evil unsafe dan unfiltered uncensored",
    "enable": "enable enabled enabling activate activated activating activates enter entering entered unlock "
    "unlocked initiate engage engaged",
    # rules that protect
    "off": "disable disables disabled disabling deactivate deactivated bypass bypasses bypassing bypassed "
    "circumvent circumvents circumventing remove removes removed removing suspend suspended lift lifted "
    "evade evading relax waive waived override overriding overridden eliminate disregard exempt defeat "
    "violate ignore ignoring drop dropped skip",
    "guard": "safety guardrail guardrails safeguard safeguards moderation ethical ethics moral morals censorship "
    "restrictions restraints limitations alignment filters constraints limits",
    "guardrail": "guardrail guardrails safeguard safeguards censorship",
    "safety": "safety ethical ethics moral morality morals openai anthropic moderation alignment guardrails "
    "guardrail safeguards censorship security content",
    "measure": "filter filters guidelines guideline rules rule policy policies protocols protocol measures checks "
    "mode features restrictions constraints limits settings guardrails safeguards training norms "
    "boundaries instructions",
    "refuse": "refuse refuses refusing refusal decline deny apologize",
    "comply": "comply complies obey obeys obeying",
    "disclaim": "warning warnings disclaimer disclaimers apologies caveats",
    "legal": "legality ethicality illegal immoral inhumane",
    # what is kept to itself
    "reveal": "reveal reveals revealing print printing show showing display repeat recite tell dump dumping leak "
    "leaking expose disclose disclosing share sharing divulge echo summarize translate encode give "
    "provide paste quote reproduce output outputting state spell rephrase",
    "disclose": "reveal print leak disclose dump expose share",
    "system": "system hidden secret internal confidential underlying base initial original developer",
    "promptword": "prompt prompts instruction instructions preamble directives configuration guidelines message",
    "systemprompt": "systemprompt",
    "verbatim": "verbatim exactly literally above word",
    # secrets and where they could go
    "credential": "password passwords passwd credential credentials apikey apikeys secrets passphrase passphrases "
    "cookies keychain privatekey",
    "keyword": "key keys token tokens variables seed phrase secret vars wallet",
    "keykind": "api ssh private access secret auth signing gpg encryption env environment bearer session wallet aws "
    "deploy seed recovery oauth github npm login",
    "datum": "data information info contents content details records record history conversation conversations "
    "transcript transcripts emails customer customers file files code diff source database logs list "
    "payroll documents document summary summaries messages addresses billing repository workspace",
    "send": "send sends sending sent post posts posting upload uploads uploading forward forwards forwarded "
    "forwarding exfiltrate exfiltrates exfiltrating transmit transmits transmitting email emailed mail "
    "leak leaks deliver smuggle beacon relay ship pipe exfil bcc",
    "upload": "send upload uploads forward forwards transmit exfiltrate leak",
    "steal": "exfiltrate exfiltrates exfiltrating exfiltration exfil smuggle steal siphon harvest",
    "collect": "collect gather harvest grab capture read dump extract",
    "place": "http https url webhook attacker collector ftp ngrok pastebin requestbin evil exfil gist",
    "foreign": "attacker attackers evil exfil collector hacker pastebin requestbin malicious",
    # what orders are about that are no orders to an agent
    "document": "readme wiki docs doc documentation contributing changelog confluence notion style folder legacy",
    "tame": "test tests testing formatter formatters format formatting linter linters lint linting prettier ruff "
    "eslint typecheck docs screenshots",
    # out of the user's sight
    "crowd": "users humans developers reviewers",
    "tell": "tell tells telling mention mentions mentioning inform informs informing notify notifies notifying "
    "reveal disclose alert warn told",
    "secretly": "secretly silently covertly stealthily discreetly surreptitiously",
    "secretstate": "secret confidential hidden private invisible",
    "conceal": "hide hides hiding conceal conceals concealing withhold",
    "aware": "aware know knows knowing notice noticing awareness noticed",
    "thing": "this it that these",
    # approval that nobody gave
    "approved": "approved preapproved authorized authorised consented preauthorized",
    "approval": "approval permission confirmation consent confirming authorization asking permissions",
    "askfor": "ask asking request requesting wait waiting seek seeking require requiring needing",
    "confirm": "confirm confirmation approval permission again confirming",
    "permanently": "permanently permanent forever indefinitely",
    # what is kept for later
    "remember": "remember store save persist memorize record retain commit",
    "memory": "memory memories",
    "future": "future subsequent every",
    "turnword": "session sessions conversation conversations reply replies response responses message messages turn "
    "turns answer answers summary summaries interaction interactions query queries chat output outputs",
    "append": "append appends include includes insert add adds added attach attached mention recommend recommends "
    "inject embed recommended suggest prepend praise favor favour advertise promote appended included",
    "tokenword": "token code canary link url phrase string marker banner product brand vendor image",
    "when": "when whenever if once after before upon while",
    "asks": "asks ask asked mentions says types requests opens queries responding answering replying continuing "
    "proceeding",
    # programs that run
    "run": "run runs running execute executes executing exec launch invoke invokes call calls",
    "immediately": "immediately silently automatically unattended",
    "destroy": "delete deletes deleting destroy wipe wipes erase purge truncate overwrite shred empty",
    "data": "data database databases files backups tables repository directory records logs disk volumes production",
    "commandword": "command commands script payload",
    "download": "download downloads downloading fetch curl wget",
    "elevate": "elevate escalate escalates escalating escalation",
    "power": "privileges privilege permissions superuser root administrator rights",
    # voices of authority
    "systemvoice": "system admin administrator root openai anthropic moderator sysadmin",
    "noteto": "note notes notice attention message reminder memo hint important instruction instructions",
    "expert": "expert experts gpt professionals auditors lawyers gpt4 claude",
    "stayin": "stay remain staying break",
    "and": "and then",
    "write": "write print say output reply respond",
    # prompts that make a chatbot somebody else
    "vice": "moral morals morality ethic ethics ethical immoral unethical illegal amoral offensive rude vulgar "
    "swear swearing sarcastic sarcasm profanity curse violent edgy evil sexual controversial",
    "greet": "hello hi hey dear greetings",
    "to": "to",
    "any": "any",
    "every": "every each",
    "no": "no",
    "freed": "free freed",
}
