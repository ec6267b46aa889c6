-- The last builds of each image. What is written again is the newest.
create sequence past_builds_numbers;
create table past_builds (
    image  text not null,
    tag    text not null,
    number bigint not null default nextval('past_builds_numbers'),
    build  json not null,
    primary key (image, tag)
);
create index past_builds_by_age on past_builds (image, number desc);
