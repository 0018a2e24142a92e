"""What the program's JSON documents hold, as classes: schema/*.schema.json says what each field means.

A key that a later program adds is ignored here; one that an older program lacks has its default.
"""

import dataclasses
import typing
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Type, TypeVar

T = TypeVar("T")


def from_json(cls: Type[T], data: Dict[str, Any]) -> T:
    """An object of a class below, made from a part of a document."""
    hints = typing.get_type_hints(cls)
    fields = {one.name for one in dataclasses.fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: _value(hints[name], value) for name, value in data.items() if name in fields})


def _value(hint: Any, value: Any) -> Any:
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is list:
        return [_value(arguments[0], item) for item in value]
    if arguments and type(None) in arguments:  # Optional
        return None if value is None else _value(arguments[0], value)
    return from_json(hint, value) if isinstance(hint, type) and dataclasses.is_dataclass(hint) else value


@dataclass(frozen=True)
class Step:
    """A line of a source: of an #include, which includes the next step."""

    file: str
    line: int


@dataclass(frozen=True)
class Site:
    """One definition or reference. `file` and `line` are None where no place in a source is known."""

    role: str  # "kept", "rejected", "reference", "candidate"
    input: str  # "libx.a(y.o)"
    path: str
    member: Optional[str] = None
    section: Optional[str] = None
    offset: int = 0
    size: int = 0  # bytes
    file: Optional[str] = None
    line: Optional[int] = None
    known_by: str = "none"
    why_unknown: Optional[str] = None
    chain: List[Step] = field(default_factory=list)  # from the translation unit to the site
    chain_known_by: str = "none"
    edit: Optional[int] = None  # which step of the chain is the project's to edit
    notes: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Cause:
    kind: str  # "function-not-inline"
    text: str


@dataclass(frozen=True)
class Fix:
    text: str
    file: Optional[str] = None
    line: Optional[int] = None
    diff: Optional[str] = None  # unified, for patch -p0


@dataclass(frozen=True)
class Relocation:
    type: str
    symbol: str
    section: str
    offset: int
    count: int


@dataclass(frozen=True)
class Finding:
    rule: str
    severity: str  # "error", "warning", "note"
    symbol: str  # mangled
    demangled: str
    message: str
    fingerprint: str
    sites: List[Site] = field(default_factory=list)
    cause: Optional[Cause] = None
    fixes: List[Fix] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)
    symbols: List[str] = field(default_factory=list)
    arch: Optional[str] = None
    archs: List[str] = field(default_factory=list)
    relocations: List[Relocation] = field(default_factory=list)
    links: List[str] = field(default_factory=list)
    also: List["Finding"] = field(default_factory=list)  # other symbols with the same cause
    reason: Optional[str] = None  # of a suppressed finding: why it is accepted
    suppressed_by: Optional[str] = None

    @property
    def place(self) -> Optional[Step]:
        """The first place in a source that is known."""
        known = (Step(site.file, site.line or 0) for site in self.sites if site.file is not None)
        return next(known, None)


@dataclass(frozen=True)
class Duplicate:
    symbol: str
    first: str
    other: str


@dataclass(frozen=True)
class Extracted:
    input: str
    because: str
    needed_by: Optional[str] = None


@dataclass(frozen=True)
class Input:
    path: str
    kind: str
    members: int
    read: bool


@dataclass(frozen=True)
class Package:
    path: str
    kind: str  # "wheel", "directory"
    files: int
    read: bool
    name: Optional[str] = None
    version: Optional[str] = None
    tags: List[str] = field(default_factory=list)
    requires_python: Optional[str] = None


@dataclass(frozen=True)
class Link:
    """With `build`: one link of it."""

    output: str
    complete: bool
    linker: str
    inputs: List[str]
    duplicates: List[Duplicate]
    linker_version: int = 0
    undefined_judged: bool = False
    undefined_not_judged: Optional[str] = None
    not_judged: List[str] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)


@dataclass(frozen=True)
class Report:
    """What check() found."""

    exit_code: int  # 0 clean, 1 findings, 2 incomplete
    version: str
    complete: bool
    linker: str
    findings: List[Finding]
    duplicates: List[Duplicate]
    undefined: List[str]
    extracted_members: List[Extracted]
    inputs: List[Input]
    linker_version: int = 0
    link_uses: Optional[str] = None
    whole_archives: bool = False
    suppressed: List[Finding] = field(default_factory=list)
    known: List[Finding] = field(default_factory=list)
    duplicates_judged: bool = False
    duplicates_not_judged: Optional[str] = None
    undefined_judged: bool = False
    undefined_not_judged: Optional[str] = None
    not_judged: List[str] = field(default_factory=list)
    relocations_judged: bool = False
    undefined_count: Optional[int] = None
    extracted_objects: List[Extracted] = field(default_factory=list)
    packages: List[Package] = field(default_factory=list)
    left_out: List[str] = field(default_factory=list)
    options_not_understood: List[str] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)
    links: List[Link] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return self.exit_code == 0


@dataclass(frozen=True)
class Use:
    """One object that mentions a symbol, and how that ended."""

    resolved_as: str
    kind: str
    reason: str
    site: Site


@dataclass(frozen=True)
class Symbol:
    """What explain() says of one symbol, of a build in one link."""

    symbol: str  # mangled
    demangled: str
    verdict: str
    uses: List[Use]
    findings: List[Finding]
    link: Optional[str] = None


@dataclass(frozen=True)
class LogSite:
    role: str
    input: Optional[str] = None
    member: Optional[str] = None
    section: Optional[str] = None
    offset: Optional[int] = None
    function: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None


@dataclass(frozen=True)
class Nearby:
    folder: str
    file: str
    exact: bool


@dataclass(frozen=True)
class LogError:
    """An error of a log. `finding`: what the audit of the command's inputs says about it."""

    line: int
    lines: List[int]
    kind: str
    tool: str
    text: str
    symbol: Optional[str] = None
    demangled: Optional[str] = None
    name: Optional[str] = None
    arch: Optional[str] = None
    command_line: Optional[int] = None
    sites: List[LogSite] = field(default_factory=list)
    chain: List[Step] = field(default_factory=list)
    link: Optional[int] = None
    finding: Optional[Finding] = None
    searched: List[str] = field(default_factory=list)
    nearby: List[Nearby] = field(default_factory=list)
    fixes: List[str] = field(default_factory=list)
    note: Optional[str] = None


@dataclass(frozen=True)
class LogLink:
    audited: bool
    command_line: Optional[int] = None
    output: Optional[str] = None
    notes: List[str] = field(default_factory=list)
    found_by: str = "command"
    build: Optional[str] = None
    findings: List[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Diagnosis:
    """What diagnose() says of a build's log."""

    version: str
    whole: bool
    errors: List[LogError]
    links: List[LogLink]
    findings: List[Finding] = field(default_factory=list)
